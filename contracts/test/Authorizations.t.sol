// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC3009, IERC3009Cancel} from "@openzeppelin/contracts/interfaces/draft-IERC3009.sol";
import {IERC20Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";
import {ERC3009} from "@openzeppelin/contracts/token/ERC20/extensions/draft-ERC3009.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {Fixture} from "./support/Fixture.sol";
import {ContractWallet, QuietReentrantWallet, ReentrantWallet} from "./support/Wallets.sol";

contract AuthorizationsTest is Fixture {
    function setUp() public override {
        super.setUp();
        give(alice, 1_000e6);
    }

    function test_anyoneMaySubmitATransfer(uint256 value, uint256 nonce) public {
        Authorization memory a = authorization(alice, bob, bound(value, 0, 1_000e6), nonce);
        (uint8 v, bytes32 r, bytes32 s) = signed(ALICE_KEY, TRANSFER_TYPEHASH, a);
        vm.expectEmit(address(token));
        emit IERC3009.AuthorizationUsed(alice, a.nonce);
        vm.prank(STRANGER);
        transfer(a, v, r, s);
        vm.assertEq(token.balanceOf(bob), a.value);
        vm.assertTrue(token.authorizationState(alice, a.nonce));
    }

    function test_theFormWithBytesDoesTheSame(uint256 value, uint256 nonce) public {
        Authorization memory a = authorization(alice, bob, bound(value, 0, 1_000e6), nonce);
        transfer(a, signedBytes(ALICE_KEY, TRANSFER_TYPEHASH, a));
        vm.assertEq(token.balanceOf(bob), a.value);
        vm.assertTrue(token.authorizationState(alice, a.nonce));
    }

    function test_worksOnceInWhicheverForm(uint256 nonce, bool asBytes, bool againAsBytes) public {
        Authorization memory a = authorization(alice, bob, 1, nonce);
        submit(a, asBytes);
        vm.expectRevert(abi.encodeWithSelector(ERC3009.ERC3009UsedAuthorization.selector, alice, a.nonce));
        this.submit(a, againAsBytes);
        vm.assertEq(token.balanceOf(bob), 1);
    }

    function test_onlyTheReceiverMaySubmitAReceive() public {
        Authorization memory a = authorization(alice, bob, 5, 0);
        (uint8 v, bytes32 r, bytes32 s) = signed(ALICE_KEY, RECEIVE_TYPEHASH, a);
        vm.prank(STRANGER);
        vm.expectRevert(abi.encodeWithSelector(IERC20Errors.ERC20InvalidReceiver.selector, bob));
        token.receiveWithAuthorization(alice, bob, 5, 0, SOON, a.nonce, v, r, s);
        vm.prank(bob);
        token.receiveWithAuthorization(alice, bob, 5, 0, SOON, a.nonce, v, r, s);

        a = authorization(alice, bob, 6, 1);
        bytes memory signature = signedBytes(ALICE_KEY, RECEIVE_TYPEHASH, a);
        vm.prank(STRANGER);
        vm.expectRevert(abi.encodeWithSelector(IERC20Errors.ERC20InvalidReceiver.selector, bob));
        token.receiveWithAuthorization(alice, bob, 6, 0, SOON, a.nonce, signature);
        vm.prank(bob);
        token.receiveWithAuthorization(alice, bob, 6, 0, SOON, a.nonce, signature);
        vm.assertEq(token.balanceOf(bob), 11);
    }

    function test_aReceiveIsNoTransfer() public {
        Authorization memory a = authorization(alice, bob, 5, 0);
        (uint8 v, bytes32 r, bytes32 s) = signed(ALICE_KEY, RECEIVE_TYPEHASH, a);
        vm.expectRevert(ERC3009.ERC3009InvalidSignature.selector);
        this.callTransfer(a, v, r, s);
    }

    function test_aCancelledNonceIsUsedUp(uint256 nonce, bool asBytes) public {
        Authorization memory a = authorization(alice, bob, 1, nonce);
        vm.expectEmit(address(token));
        emit IERC3009Cancel.AuthorizationCanceled(alice, a.nonce);
        cancel(ALICE_KEY, alice, a.nonce, asBytes);
        vm.assertTrue(token.authorizationState(alice, a.nonce));
        vm.expectRevert(abi.encodeWithSelector(ERC3009.ERC3009UsedAuthorization.selector, alice, a.nonce));
        this.submit(a, false);
        vm.expectRevert(abi.encodeWithSelector(ERC3009.ERC3009UsedAuthorization.selector, alice, a.nonce));
        this.cancel(ALICE_KEY, alice, a.nonce, !asBytes);
    }

    function test_onlyTheAuthorizerCancels(bool asBytes) public {
        vm.expectRevert(ERC3009.ERC3009InvalidSignature.selector);
        this.cancel(BOB_KEY, alice, bytes32(0), asBytes);
    }

    function test_cancelsWhilePausedAndWhileBlocked() public {
        vm.prank(PAUSER);
        token.pause();
        vm.prank(BLOCKLISTER);
        token.setBlocked(alice, true);
        cancel(ALICE_KEY, alice, bytes32(0), false);
        vm.assertTrue(token.authorizationState(alice, bytes32(0)));
    }

    function test_isValidStrictlyBetweenItsTwoTimes(uint256 validAfter, uint256 validBefore) public {
        validAfter = bound(validAfter, NOW - 2, NOW + 2);
        validBefore = bound(validBefore, NOW - 2, NOW + 2);
        Authorization memory a = Authorization(alice, bob, 1, validAfter, validBefore, bytes32(0));
        if (!(validAfter < NOW && NOW < validBefore)) {
            vm.expectRevert(
                abi.encodeWithSelector(ERC3009.ERC3009InvalidAuthorizationTime.selector, validAfter, validBefore)
            );
        }
        this.submit(a, false);
    }

    /// The base contract reads times with bit 47 as block numbers; the standard knows seconds only.
    function test_timesAreSecondsEvenWhenHuge() public {
        Authorization memory a = Authorization(alice, bob, 1, 1 << 47, type(uint256).max, bytes32(0));
        vm.expectPartialRevert(ERC3009.ERC3009InvalidAuthorizationTime.selector);
        this.submit(a, false);
        a.validAfter = 0;
        submit(a, false);
    }

    function test_refusesEveryOtherDomain(uint8 which) public {
        bytes32[4] memory domains = [
            domainSeparator("Wonrail Won", "1", block.chainid + 1, address(token)),
            domainSeparator("Wonrail Won", "2", block.chainid, address(token)),
            domainSeparator("Other Won", "1", block.chainid, address(token)),
            domainSeparator("Wonrail Won", "1", block.chainid, address(manager))
        ];
        Authorization memory a = authorization(alice, bob, 1, 0);
        bytes32 hash = digest(domains[which % 4], structHashOf(TRANSFER_TYPEHASH, a));
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(ALICE_KEY, hash);
        refusesBothForms(a, v, r, s, ERC3009.ERC3009InvalidSignature.selector);
    }

    function test_refusesASignatureAfterTheChainForked() public {
        Authorization memory a = authorization(alice, bob, 1, 0);
        (uint8 v, bytes32 r, bytes32 s) = signed(ALICE_KEY, TRANSFER_TYPEHASH, a);
        vm.chainId(block.chainid + 1);
        refusesBothForms(a, v, r, s, ERC3009.ERC3009InvalidSignature.selector);
    }

    function test_refusesEveryOtherTypehash(uint8 which) public {
        bytes32[3] memory typehashes =
            [RECEIVE_TYPEHASH, keccak256("TransferWithAuthorization()"), keccak256("transferWithAuthorization")];
        Authorization memory a = authorization(alice, bob, 1, 0);
        (uint8 v, bytes32 r, bytes32 s) = signed(ALICE_KEY, typehashes[which % 3], a);
        refusesBothForms(a, v, r, s, ERC3009.ERC3009InvalidSignature.selector);
    }

    function test_refusesEveryChangedField(uint8 which, uint256 change) public {
        Authorization memory a = authorization(alice, bob, 100, 0);
        (uint8 v, bytes32 r, bytes32 s) = signed(ALICE_KEY, TRANSFER_TYPEHASH, a);
        change = bound(change, 1, 1_000);
        if (which % 5 == 0) a.to = address(uint160(bob) + uint160(change));
        if (which % 5 == 1) a.value += change;
        if (which % 5 == 2) a.validAfter += change;
        if (which % 5 == 3) a.validBefore += change;
        if (which % 5 == 4) a.nonce = bytes32(change);
        refusesBothForms(a, v, r, s, ERC3009.ERC3009InvalidSignature.selector);
    }

    function test_refusesAnotherSigner() public {
        Authorization memory a = authorization(alice, bob, 1, 0);
        (uint8 v, bytes32 r, bytes32 s) = signed(BOB_KEY, TRANSFER_TYPEHASH, a);
        refusesBothForms(a, v, r, s, ERC3009.ERC3009InvalidSignature.selector);
    }

    function test_refusesTheMalleatedTwin(uint256 nonce) public {
        Authorization memory a = authorization(alice, bob, 1, nonce);
        (uint8 v, bytes32 r, bytes32 s) = signed(ALICE_KEY, TRANSFER_TYPEHASH, a);
        (v, s) = (v == 27 ? 28 : 27, bytes32(CURVE_ORDER - uint256(s)));
        vm.expectPartialRevert(ECDSA.ECDSAInvalidSignatureS.selector);
        this.callTransfer(a, v, r, s);
        vm.expectRevert(ERC3009.ERC3009InvalidSignature.selector);
        this.callTransferBytes(a, abi.encodePacked(r, s, v));
    }

    function test_refusesEveryOtherV(uint8 v) public {
        vm.assume(v != 27 && v != 28);
        Authorization memory a = authorization(alice, bob, 1, 0);
        (, bytes32 r, bytes32 s) = signed(ALICE_KEY, TRANSFER_TYPEHASH, a);
        vm.expectRevert(ECDSA.ECDSAInvalidSignature.selector);
        this.callTransfer(a, v, r, s);
        vm.expectRevert(ERC3009.ERC3009InvalidSignature.selector);
        this.callTransferBytes(a, abi.encodePacked(r, s, v));
    }

    function test_refusesSignaturesOfAnyOtherLength(bytes memory signature) public {
        vm.assume(signature.length != 65);
        Authorization memory a = authorization(alice, bob, 1, 0);
        vm.expectRevert(ERC3009.ERC3009InvalidSignature.selector);
        this.callTransferBytes(a, signature);
    }

    function test_nobodySignsForTheZeroAddress() public {
        Authorization memory a = authorization(address(0), bob, 0, 0);
        vm.expectRevert(ECDSA.ECDSAInvalidSignature.selector);
        this.callTransfer(a, 27, bytes32(0), bytes32(0));
        vm.expectRevert(ERC3009.ERC3009InvalidSignature.selector);
        this.callTransferBytes(a, abi.encodePacked(bytes32(0), bytes32(0), uint8(27)));
    }

    function test_aFailedTransferLeavesTheNonceFree() public {
        Authorization memory a = authorization(alice, bob, 2_000e6, 0);
        vm.expectPartialRevert(IERC20Errors.ERC20InsufficientBalance.selector);
        this.submit(a, false);
        vm.assertFalse(token.authorizationState(alice, a.nonce));
        give(alice, 1_000e6);
        submit(a, false);
        vm.assertEq(token.balanceOf(bob), 2_000e6);
    }

    function test_acceptsAContractsSignature() public {
        address wallet = address(new ContractWallet(carol));
        give(wallet, 10);
        Authorization memory a = authorization(wallet, bob, 4, 0);
        transfer(a, signedBytes(CAROL_KEY, TRANSFER_TYPEHASH, a));
        vm.assertEq(token.balanceOf(bob), 4);

        a.nonce = bytes32(uint256(1));
        bytes memory signature = signedBytes(BOB_KEY, TRANSFER_TYPEHASH, a);
        vm.expectRevert(ERC3009.ERC3009InvalidSignature.selector);
        this.callTransferBytes(a, signature);
        (uint8 v, bytes32 r, bytes32 s) = signed(CAROL_KEY, TRANSFER_TYPEHASH, a);
        vm.expectRevert(ERC3009.ERC3009InvalidSignature.selector);
        this.callTransfer(a, v, r, s);
    }

    function test_anAccountThatDelegatedToCodeStaysItsKeys() public {
        vm.etch(alice, address(new ContractWallet(carol)).code);
        Authorization memory a = authorization(alice, bob, 4, 0);
        transfer(a, signedBytes(ALICE_KEY, TRANSFER_TYPEHASH, a));
        vm.assertEq(token.balanceOf(bob), 4);
    }

    function test_aContractThatReentersSpendsNothingTwice() public {
        ReentrantWallet loud = new ReentrantWallet(token);
        give(address(loud), 10);
        Authorization memory a = authorization(address(loud), bob, 4, 0);
        loud.spendAgain(encodedTransfer(a));
        vm.expectRevert(ERC3009.ERC3009InvalidSignature.selector);
        this.callTransferBytes(a, "");

        QuietReentrantWallet quiet = new QuietReentrantWallet(token);
        give(address(quiet), 10);
        a = authorization(address(quiet), bob, 4, 0);
        quiet.spendAgain(encodedTransfer(a));
        transfer(a, "");
        vm.assertEq(token.balanceOf(bob), 4);
        vm.expectPartialRevert(ERC3009.ERC3009UsedAuthorization.selector);
        this.callTransferBytes(a, "");
    }

    // Called through `this`, so that a revert is of one call and not of the test.

    function submit(Authorization memory a, bool asBytes) public {
        (uint8 v, bytes32 r, bytes32 s) = signed(ALICE_KEY, TRANSFER_TYPEHASH, a);
        if (asBytes) transfer(a, abi.encodePacked(r, s, v));
        else transfer(a, v, r, s);
    }

    function cancel(uint256 key, address authorizer, bytes32 nonce, bool asBytes) public {
        bytes32 structHash = keccak256(abi.encode(CANCEL_TYPEHASH, authorizer, nonce));
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, digest(ourDomain(), structHash));
        if (asBytes) token.cancelAuthorization(authorizer, nonce, abi.encodePacked(r, s, v));
        else token.cancelAuthorization(authorizer, nonce, v, r, s);
    }

    function callTransfer(Authorization memory a, uint8 v, bytes32 r, bytes32 s) external {
        transfer(a, v, r, s);
    }

    function callTransferBytes(Authorization memory a, bytes memory signature) external {
        transfer(a, signature);
    }

    function refusesBothForms(Authorization memory a, uint8 v, bytes32 r, bytes32 s, bytes4 reason) private {
        vm.expectPartialRevert(reason);
        this.callTransfer(a, v, r, s);
        vm.expectPartialRevert(reason);
        this.callTransferBytes(a, abi.encodePacked(r, s, v));
        vm.assertFalse(token.authorizationState(a.from, a.nonce));
    }

    function encodedTransfer(Authorization memory a) private pure returns (bytes memory) {
        return abi.encodeWithSignature(
            "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)",
            a.from,
            a.to,
            a.value,
            a.validAfter,
            a.validBefore,
            a.nonce,
            bytes("")
        );
    }
}
