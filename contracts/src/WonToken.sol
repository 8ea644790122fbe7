// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {
    AccessControlDefaultAdminRules
} from "@openzeppelin/contracts/access/extensions/AccessControlDefaultAdminRules.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";
import {MintCap} from "./MintCap.sol";
import {PackedAccounts} from "./PackedAccounts.sol";

/// The holders of the roles, and the limits of minting, from the first block on. The deployer holds no role.
struct TokenRoles {
    address admin;
    uint48 adminDelaySeconds;
    address minter;
    uint256 mintAllowance;
    uint96 mintCapPerDay;
    address burner;
    address pauser;
    address blocklister;
}

/**
 * The won as a token: ERC-20, ERC-2612 and the whole of ERC-3009 with both signature forms. The form with `bytes` takes
 * the signature of a key or, by ERC-1271, of a contract.
 *
 * Moving or burning tokens needs their holder's authorization. Minting is bounded twice: each minter has an allowance,
 * and all minters together have a cap per day. A pause stops every change of a balance and nothing else, so
 * authorizations can still be cancelled.
 */
contract WonToken is PackedAccounts, MintCap, AccessControlDefaultAdminRules, Pausable {
    bytes32 public constant MINTER_ROLE = keccak256("MINTER_ROLE");
    bytes32 public constant BURNER_ROLE = keccak256("BURNER_ROLE");
    bytes32 public constant PAUSER_ROLE = keccak256("PAUSER_ROLE");
    bytes32 public constant BLOCKLISTER_ROLE = keccak256("BLOCKLISTER_ROLE");

    bytes32 private constant BURN_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "BurnWithAuthorization(address from,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );

    mapping(address minter => uint256 value) public mintAllowance;

    event MintAllowanceSet(address indexed minter, uint256 value);
    event AccountBlockSet(address indexed account, bool blocked);

    error MintAllowanceExceeded(address minter, uint256 allowance, uint256 value);

    constructor(TokenRoles memory roles)
        ERC20("Wonrail Won", "WON")
        ERC20Permit("Wonrail Won")
        AccessControlDefaultAdminRules(roles.adminDelaySeconds, roles.admin)
    {
        _grantRole(MINTER_ROLE, roles.minter);
        _grantRole(BURNER_ROLE, roles.burner);
        _grantRole(PAUSER_ROLE, roles.pauser);
        _grantRole(BLOCKLISTER_ROLE, roles.blocklister);
        _setMintAllowance(roles.minter, roles.mintAllowance);
        _setMintCapPerDay(roles.mintCapPerDay);
    }

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    function mint(address to, uint256 value) external onlyRole(MINTER_ROLE) {
        address minter = _msgSender();
        uint256 allowed = mintAllowance[minter];
        require(value <= allowed, MintAllowanceExceeded(minter, allowed, value));
        mintAllowance[minter] = allowed - value;
        _useMintCap(value);
        _mint(to, value);
    }

    /// The role allows the call, and the signature proves the holder's consent. Its nonce is one of
    /// the holder's ERC-3009 nonces.
    function burnWithAuthorization(
        address from,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external onlyRole(BURNER_ROLE) {
        bytes32 hash = _hashTypedDataV4(
            keccak256(abi.encode(BURN_WITH_AUTHORIZATION_TYPEHASH, from, value, validAfter, validBefore, nonce))
        );
        require(from == ECDSA.recover(hash, v, r, s), ERC3009InvalidSignature());
        _checkValidity(validAfter, validBefore);
        _consumeNonce(from, nonce);
        emit AuthorizationUsed(from, nonce);
        _burn(from, value);
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external {
        _requireSignature(
            from,
            keccak256(
                abi.encode(TRANSFER_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce)
            ),
            signature
        );
        _transferWithAuthorization(from, to, value, validAfter, validBefore, nonce);
    }

    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external {
        require(to == _msgSender(), ERC20InvalidReceiver(to));
        _requireSignature(
            from,
            keccak256(abi.encode(RECEIVE_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce)),
            signature
        );
        _transferWithAuthorization(from, to, value, validAfter, validBefore, nonce);
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, bytes memory signature) external {
        bytes32 structHash = keccak256(abi.encode(CANCEL_AUTHORIZATION_TYPEHASH, authorizer, nonce));
        _requireSignature(authorizer, structHash, signature);
        _cancelAuthorization(authorizer, nonce);
    }

    function setMintAllowance(address minter, uint256 value) external onlyRole(DEFAULT_ADMIN_ROLE) {
        _setMintAllowance(minter, value);
    }

    function setMintCapPerDay(uint96 value) external onlyRole(DEFAULT_ADMIN_ROLE) {
        _setMintCapPerDay(value);
    }

    function pause() external onlyRole(PAUSER_ROLE) {
        _pause();
    }

    function unpause() external onlyRole(PAUSER_ROLE) {
        _unpause();
    }

    function setBlocked(address account, bool blocked) external onlyRole(BLOCKLISTER_ROLE) {
        _setBlocked(account, blocked);
        emit AccountBlockSet(account, blocked);
    }

    function _update(address from, address to, uint256 value) internal override whenNotPaused {
        super._update(from, to, value);
    }

    /// A blocked account may not spend allowances either.
    function _spendAllowance(address owner, address spender, uint256 value) internal override {
        require(!isBlocked(spender), AccountBlocked(spender));
        super._spendAllowance(owner, spender, value);
    }

    function _setMintAllowance(address minter, uint256 value) private {
        mintAllowance[minter] = value;
        emit MintAllowanceSet(minter, value);
    }

    /// Checks the key first. The usual signer then costs no cold read of its code, and an account
    /// that has delegated to code (EIP-7702) still belongs to its key.
    function _requireSignature(address signer, bytes32 structHash, bytes memory signature) private view {
        bytes32 hash = _hashTypedDataV4(structHash);
        (address recovered, ECDSA.RecoverError failure,) = ECDSA.tryRecover(hash, signature);
        if (failure == ECDSA.RecoverError.NoError && recovered == signer) return;
        require(SignatureChecker.isValidERC1271SignatureNow(signer, hash, signature), ERC3009InvalidSignature());
    }
}
