// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {PaymentManager} from "../../src/PaymentManager.sol";
import {TokenRoles, WonToken} from "../../src/WonToken.sol";
import {Vm} from "./Vm.sol";

/// A token and its manager, deployed as by bin/deploy.mjs, wallets with keys, and signatures built
/// from the standard's text, not from the tested code.
abstract contract Fixture {
    Vm internal constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

    struct Authorization {
        address from;
        address to;
        uint256 value;
        uint256 validAfter;
        uint256 validBefore;
        bytes32 nonce;
    }

    bytes32 internal constant TRANSFER_TYPEHASH = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 internal constant RECEIVE_TYPEHASH = keccak256(
        "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 internal constant BURN_TYPEHASH = keccak256(
        "BurnWithAuthorization(address from,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 internal constant CANCEL_TYPEHASH = keccak256("CancelAuthorization(address authorizer,bytes32 nonce)");

    uint256 internal constant CURVE_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141;
    uint256 internal constant NOW = 1_800_000_000;
    uint256 internal constant SOON = NOW + 600;
    uint256 internal constant MINT_ALLOWANCE = 1_000_000_000_000e6;
    /// The tests of the cap set a lower one.
    uint96 internal constant MINT_CAP_PER_DAY = type(uint96).max;

    uint256 internal constant ALICE_KEY = 0xA11CE;
    uint256 internal constant BOB_KEY = 0xB0B;
    uint256 internal constant CAROL_KEY = 0xCA401;

    address internal immutable alice = vm.addr(ALICE_KEY);
    address internal immutable bob = vm.addr(BOB_KEY);
    address internal immutable carol = vm.addr(CAROL_KEY);
    address internal constant ADMIN = address(0xAD);
    address internal constant OPERATOR = address(0x09);
    address internal constant PAUSER = address(0x9A);
    address internal constant BLOCKLISTER = address(0xB1);
    address internal constant STRANGER = address(0x57);

    WonToken internal token;
    PaymentManager internal manager;

    function setUp() public virtual {
        vm.warp(NOW);
        address minter = vm.computeCreateAddress(address(this), vm.getNonce(address(this)) + 1);
        token = WonToken(deploy("WonToken", abi.encode(tokenRoles(minter))));
        manager = newManager(address(token), OPERATOR);
    }

    function newManager(address settled, address operator) internal returns (PaymentManager) {
        return PaymentManager(deploy("PaymentManager", abi.encode(settled, ADMIN, 1 days, operator)));
    }

    /// Deploys the committed artifacts, the same bytes as on chain. Coverage deploys from the
    /// sources, because it needs their lines.
    function deploy(string memory name, bytes memory arguments) private returns (address made) {
        string memory folder = vm.envOr("CONTRACTS_FROM_SOURCE", false) ? "src/" : "artifacts/";
        string memory file = string.concat(folder, name, vm.envOr("CONTRACTS_FROM_SOURCE", false) ? ".sol" : ".json");
        bytes memory code = bytes.concat(vm.getCode(file), arguments);
        assembly {
            made := create(0, add(code, 0x20), mload(code))
        }
        vm.assertTrue(made != address(0), "not deployed");
    }

    function tokenRoles(address minter) internal pure returns (TokenRoles memory) {
        return TokenRoles({
            admin: ADMIN,
            adminDelaySeconds: 1 days,
            minter: minter,
            mintAllowance: MINT_ALLOWANCE,
            mintCapPerDay: MINT_CAP_PER_DAY,
            burner: minter,
            pauser: PAUSER,
            blocklister: BLOCKLISTER
        });
    }

    function give(address to, uint256 value) internal {
        vm.prank(address(manager));
        token.mint(to, value);
    }

    function authorization(address from, address to, uint256 value, uint256 nonce)
        internal
        pure
        returns (Authorization memory)
    {
        return Authorization(from, to, value, 0, SOON, bytes32(nonce));
    }

    function domainSeparator(string memory name, string memory version, uint256 chainId, address verifier)
        internal
        pure
        returns (bytes32)
    {
        bytes32 typehash =
            keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
        return keccak256(abi.encode(typehash, keccak256(bytes(name)), keccak256(bytes(version)), chainId, verifier));
    }

    function ourDomain() internal view returns (bytes32) {
        return domainSeparator("Wonrail Won", "1", block.chainid, address(token));
    }

    function digest(bytes32 domain, bytes32 structHash) internal pure returns (bytes32) {
        return keccak256(abi.encodePacked(hex"1901", domain, structHash));
    }

    function structHashOf(bytes32 typehash, Authorization memory a) internal pure returns (bytes32) {
        if (typehash == BURN_TYPEHASH) {
            return keccak256(abi.encode(typehash, a.from, a.value, a.validAfter, a.validBefore, a.nonce));
        }
        return keccak256(abi.encode(typehash, a.from, a.to, a.value, a.validAfter, a.validBefore, a.nonce));
    }

    function signed(uint256 key, bytes32 typehash, Authorization memory a)
        internal
        view
        returns (uint8 v, bytes32 r, bytes32 s)
    {
        return vm.sign(key, digest(ourDomain(), structHashOf(typehash, a)));
    }

    function signedBytes(uint256 key, bytes32 typehash, Authorization memory a) internal view returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = signed(key, typehash, a);
        return abi.encodePacked(r, s, v);
    }

    function transfer(Authorization memory a, uint8 v, bytes32 r, bytes32 s) internal {
        token.transferWithAuthorization(a.from, a.to, a.value, a.validAfter, a.validBefore, a.nonce, v, r, s);
    }

    function transfer(Authorization memory a, bytes memory signature) internal {
        token.transferWithAuthorization(a.from, a.to, a.value, a.validAfter, a.validBefore, a.nonce, signature);
    }

    function burn(Authorization memory a, uint8 v, bytes32 r, bytes32 s) internal {
        token.burnWithAuthorization(a.from, a.value, a.validAfter, a.validBefore, a.nonce, v, r, s);
    }

    function bound(uint256 value, uint256 low, uint256 high) internal pure returns (uint256) {
        return low + value % (high - low + 1);
    }
}
