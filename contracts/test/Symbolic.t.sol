// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Operation, PaymentManager, Step} from "../src/PaymentManager.sol";
import {TokenRoles, WonToken} from "../src/WonToken.sol";
import {Vm} from "./support/Vm.sol";
import {WillingWallet} from "./support/Wallets.sol";

/// halmos proves each `check_` function for all values of its arguments (npm run evidence -- --run symbolic).
/// Signatures are symbolic: ecrecover may return any address, and the same one for the same arguments.
contract SymbolicTest {
    Vm private constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

    bytes32 private constant TRANSFER_TYPEHASH = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 private constant RECEIVE_TYPEHASH = keccak256(
        "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 private constant BURN_TYPEHASH = keccak256(
        "BurnWithAuthorization(address from,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes4 private constant TRANSFER_BY_KEY = bytes4(
        keccak256("transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)")
    );
    bytes4 private constant RECEIVE_BY_KEY = bytes4(
        keccak256("receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)")
    );
    bytes4 private constant TRANSFER_BY_BYTES =
        bytes4(keccak256("transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)"));
    bytes4 private constant RECEIVE_BY_BYTES =
        bytes4(keccak256("receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)"));
    bytes4 private constant CANCEL_BY_BYTES = bytes4(keccak256("cancelAuthorization(address,bytes32,bytes)"));
    uint256 private constant NOW = 1_800_000_000;
    uint256 private constant SOON = NOW + 600;
    address private constant ALICE = address(0xA11CE);
    address private constant BOB = address(0xB0B);
    address private constant CAROL = address(0xCA401);

    struct Authorization {
        address from;
        address to;
        uint256 value;
        uint256 validAfter;
        uint256 validBefore;
        bytes32 nonce;
    }

    struct Signature {
        uint8 v;
        bytes32 r;
        bytes32 s;
    }

    WonToken private token;
    PaymentManager private manager;
    address private wallet;

    function setUp() public {
        vm.warp(NOW);
        token = new WonToken(
            TokenRoles({
                admin: address(this),
                adminDelaySeconds: 0,
                minter: address(this),
                mintAllowance: type(uint256).max,
                mintCapPerDay: type(uint96).max,
                burner: address(this),
                pauser: address(this),
                blocklister: address(this)
            })
        );
        manager = new PaymentManager(token, address(this), 0, address(this));
        token.grantRole(token.MINTER_ROLE(), address(manager));
        wallet = address(new WillingWallet());
    }

    function check_aTransferMovesItsValueAndNothingElse(
        address from,
        address to,
        address other,
        uint256 value,
        uint96[3] memory balances
    ) external {
        vm.assume(other != from && other != to);
        token.mint(from, balances[0]);
        token.mint(other, balances[2]);
        if (to != from && to != address(0) && to != address(token)) token.mint(to, balances[1]);
        (uint256 fromBefore, uint256 toBefore) = (token.balanceOf(from), token.balanceOf(to));
        uint256 supply = token.totalSupply();
        vm.prank(from);
        (bool done,) = address(token).call(abi.encodeCall(token.transfer, (to, value)));
        assert(done == (value <= fromBefore && to != address(0) && to != address(token)));
        if (!done || from == to) {
            assert(token.balanceOf(from) == fromBefore && token.balanceOf(to) == toBefore);
        } else {
            assert(token.balanceOf(from) == fromBefore - value);
            assert(token.balanceOf(to) == toBefore + value);
        }
        assert(token.balanceOf(other) == balances[2]);
        assert(token.totalSupply() == supply);
    }

    function check_aPauseAndABlockStopTransfers(address from, address to, uint96 balance, bool isPaused, uint8 blocked)
        external
    {
        vm.assume(to != address(0) && to != address(token) && blocked < 3);
        token.mint(from, balance);
        if (blocked == 1) token.setBlocked(from, true);
        if (blocked == 2) token.setBlocked(to, true);
        if (isPaused) token.pause();
        vm.prank(from);
        (bool done,) = address(token).call(abi.encodeCall(token.transfer, (to, balance)));
        assert(done == (!isPaused && blocked == 0));
    }

    function check_aSpenderUsesItsAllowanceOnly(
        address spender,
        address to,
        uint256 value,
        uint256 allowed,
        uint96 balance
    ) external {
        vm.assume(spender != address(0));
        token.mint(ALICE, balance);
        vm.prank(ALICE);
        token.approve(spender, allowed);
        vm.prank(spender);
        (bool done,) = address(token).call(abi.encodeCall(token.transferFrom, (ALICE, to, value)));
        if (!done) return;
        assert(value <= allowed && value <= balance);
        assert(token.allowance(ALICE, spender) == (allowed == type(uint256).max ? allowed : allowed - value));
        assert(token.balanceOf(ALICE) == (to == ALICE ? balance : balance - value));
    }

    /// The stranger calls any function that needs no holder's signature.
    function check_aStrangerMovesNoTokens(address stranger, bytes4 selector, uint256[9] memory words) external {
        vm.assume(stranger != address(this) && stranger != address(manager) && stranger != ALICE);
        vm.assume(selector != TRANSFER_BY_KEY && selector != RECEIVE_BY_KEY);
        vm.assume(selector != TRANSFER_BY_BYTES && selector != RECEIVE_BY_BYTES && selector != CANCEL_BY_BYTES);
        token.mint(ALICE, 1_000);
        vm.prank(stranger);
        (bool done,) = address(token).call(abi.encodePacked(selector, words));
        done;
        assert(token.balanceOf(ALICE) == 1_000);
        assert(token.totalSupply() == 1_000);
    }

    function check_aStrangerUsesNoFunctionOfARole(address stranger, uint256[9] memory words) external {
        vm.assume(stranger != address(this) && stranger != address(manager) && stranger != address(0));
        bytes4[13] memory selectors = [
            token.mint.selector,
            token.burnWithAuthorization.selector,
            token.setMintAllowance.selector,
            token.setMintCapPerDay.selector,
            token.pause.selector,
            token.setBlocked.selector,
            token.grantRole.selector,
            token.revokeRole.selector,
            token.beginDefaultAdminTransfer.selector,
            token.cancelDefaultAdminTransfer.selector,
            token.acceptDefaultAdminTransfer.selector,
            token.changeDefaultAdminDelay.selector,
            token.rollbackDefaultAdminDelay.selector
        ];
        for (uint256 i; i < selectors.length; ++i) {
            vm.prank(stranger);
            (bool done,) = address(token).call(abi.encodePacked(selectors[i], words));
            assert(!done);
        }
    }

    function check_anAuthorizationNeedsItsHolderAndWorksOnce(
        Authorization memory a,
        Signature memory signature,
        address otherTo,
        uint256 otherValue,
        Signature memory otherSignature
    ) external {
        token.mint(a.from, 1_000);
        vm.assume(!token.authorizationState(a.from, a.nonce));
        bool done = spend(TRANSFER_BY_KEY, a, signature);
        assert(token.authorizationState(a.from, a.nonce) == done);
        if (!done) return;
        assert(ecrecover(digestOf(TRANSFER_TYPEHASH, a), signature.v, signature.r, signature.s) == a.from);
        assert(a.validAfter < NOW && NOW < a.validBefore);
        assert(a.value <= 1_000);
        (a.to, a.value) = (otherTo, otherValue);
        assert(!spend(TRANSFER_BY_KEY, a, otherSignature));
        assert(!spend(RECEIVE_BY_KEY, a, otherSignature));
    }

    function check_aReceiptNeedsItsHolderAndItsReceiver(
        Authorization memory a,
        Signature memory signature,
        address caller
    ) external {
        token.mint(a.from, 1_000);
        vm.prank(caller);
        if (!spend(RECEIVE_BY_KEY, a, signature)) return;
        assert(caller == a.to);
        assert(ecrecover(digestOf(RECEIVE_TYPEHASH, a), signature.v, signature.r, signature.s) == a.from);
        assert(a.validAfter < NOW && NOW < a.validBefore);
        assert(token.authorizationState(a.from, a.nonce));
    }

    function check_aBurnNeedsItsHolderAndItsRole(Authorization memory a, Signature memory signature, address caller)
        external
    {
        token.mint(a.from, 1_000);
        vm.prank(caller);
        (bool done,) = address(token)
            .call(
                abi.encodeCall(
                    token.burnWithAuthorization,
                    (a.from, a.value, a.validAfter, a.validBefore, a.nonce, signature.v, signature.r, signature.s)
                )
            );
        assert(token.totalSupply() == (done ? 1_000 - a.value : 1_000));
        if (!done) return;
        assert(caller == address(this));
        bytes32 structHash = keccak256(abi.encode(BURN_TYPEHASH, a.from, a.value, a.validAfter, a.validBefore, a.nonce));
        assert(ecrecover(digestOf(structHash), signature.v, signature.r, signature.s) == a.from);
        assert(token.authorizationState(a.from, a.nonce));
    }

    /// The account's word holds one window of nonces, and a mapping holds the others.
    function check_aUsedNonceStaysUsedAndTakesNoOther(bytes32 first, bytes32 second, bytes32 other) external {
        vm.assume(other != first && other != second);
        token.cancelAuthorization(wallet, first, "");
        assert(token.authorizationState(wallet, first));
        assert(token.authorizationState(wallet, second) == (second == first));
        (bool done,) = address(token)
            .call(abi.encodeWithSignature("cancelAuthorization(address,bytes32,bytes)", wallet, second, ""));
        assert(done == (second != first));
        assert(token.authorizationState(wallet, first) && token.authorizationState(wallet, second));
        assert(!token.authorizationState(wallet, other));
    }

    function check_anOperationHappensAsAWholeOrNotAtAll(bytes32 id, uint8 kind, uint96 one, uint96 two, uint96 allowed)
        external
    {
        vm.assume(one > 0 && two > 0);
        token.setMintAllowance(address(manager), allowed);
        Operation[] memory operations = new Operation[](1);
        operations[0] = Operation(id, 2);
        Step[] memory steps = new Step[](2);
        steps[0] = mintTo(ALICE, one);
        steps[1] = mintTo(BOB, two);
        steps[1].kind = kind;
        manager.execute(operations, steps);
        bool fits = kind == manager.MINT() && uint256(one) + two <= allowed;
        assert(manager.isExecuted(id) == fits);
        assert(token.balanceOf(ALICE) == (fits ? one : 0));
        assert(token.balanceOf(BOB) == (fits ? two : 0));
        assert(token.balanceOf(address(manager)) == 0);
    }

    /// A payment is a transfer and the mint of its accrual.
    function check_aPaymentIsUndoneWhenItsMintFails(bytes32 id, Step memory leg, uint96 accrual, uint96 allowed)
        external
    {
        vm.assume(leg.kind == manager.TRANSFER() && leg.from != BOB && leg.to == BOB && leg.value > 0 && accrual > 0);
        token.mint(leg.from, 1_000);
        token.setMintAllowance(address(manager), allowed);
        Operation[] memory operations = new Operation[](1);
        operations[0] = Operation(id, 2);
        Step[] memory steps = new Step[](2);
        steps[0] = leg;
        steps[1] = mintTo(CAROL, accrual);
        vm.assume(leg.from != CAROL);
        manager.execute(operations, steps);
        bool done = manager.isExecuted(id);
        assert(!done || accrual <= allowed);
        assert(token.balanceOf(leg.from) == (done ? 1_000 - leg.value : 1_000));
        assert(token.balanceOf(BOB) == (done ? leg.value : 0));
        assert(token.balanceOf(CAROL) == (done ? accrual : 0));
        assert(token.authorizationState(leg.from, leg.nonce) == done);
    }

    function check_operationsOfABatchAreIsolated(bytes32 first, bytes32 second, uint96 one, uint96 two, uint96 allowed)
        external
    {
        vm.assume(one > 0 && two > 0);
        token.setMintAllowance(address(manager), allowed);
        Operation[] memory operations = new Operation[](2);
        operations[0] = Operation(first, 1);
        operations[1] = Operation(second, 1);
        Step[] memory steps = new Step[](2);
        steps[0] = mintTo(ALICE, one);
        steps[1] = mintTo(CAROL, two);
        manager.execute(operations, steps);
        bool firstFits = one <= allowed;
        bool isRepeated = firstFits && first == second;
        bool secondFits = !isRepeated && two <= (firstFits ? allowed - one : allowed);
        assert(token.balanceOf(ALICE) == (firstFits ? one : 0));
        assert(token.balanceOf(CAROL) == (secondFits ? two : 0));
        assert(manager.isExecuted(first) == (firstFits || (first == second && secondFits)));
        assert(manager.isExecuted(second) == (secondFits || isRepeated));
    }

    function check_onlyTheOperatorExecutes(address stranger, bytes32 id, uint96 value) external {
        vm.assume(stranger != address(this));
        token.setMintAllowance(address(manager), value);
        Operation[] memory operations = new Operation[](1);
        operations[0] = Operation(id, 1);
        Step[] memory steps = new Step[](1);
        steps[0] = mintTo(stranger, value);
        vm.prank(stranger);
        (bool done,) = address(manager).call(abi.encodeCall(manager.execute, (operations, steps)));
        assert(!done);
        vm.prank(stranger);
        (done,) = address(manager).call(abi.encodeCall(manager.takeAll, (steps)));
        assert(!done || stranger == address(manager));
    }

    function spend(bytes4 form, Authorization memory a, Signature memory s) private returns (bool done) {
        (done,) = address(token)
            .call(
                abi.encodeWithSelector(form, a.from, a.to, a.value, a.validAfter, a.validBefore, a.nonce, s.v, s.r, s.s)
            );
    }

    function digestOf(bytes32 typeHash, Authorization memory a) private view returns (bytes32) {
        return digestOf(keccak256(abi.encode(typeHash, a.from, a.to, a.value, a.validAfter, a.validBefore, a.nonce)));
    }

    function digestOf(bytes32 structHash) private view returns (bytes32) {
        return keccak256(abi.encodePacked(hex"1901", token.DOMAIN_SEPARATOR(), structHash));
    }

    function mintTo(address to, uint256 value) private pure returns (Step memory) {
        return Step(1, address(0), to, value, SOON, 0, 0, 0);
    }
}
