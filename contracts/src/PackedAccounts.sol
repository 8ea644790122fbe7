// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";
import {ERC3009} from "@openzeppelin/contracts/token/ERC20/extensions/draft-ERC3009.sol";

/**
 * A storage word of each account holds everything that a transfer changes: its balance, its block flag and its latest
 * authorization nonces. A transfer by authorization writes two words, the sender's and the receiver's.
 *
 * Nonces are a set of bits in windows of 128 (window = nonce >> 7). The account's word has the highest window that was
 * ever used, as long as its number fits; the bits of every other window are in `_windows`. A nonce of a higher window
 * moves the account there, and leaves the bits of the window before behind. So nonces that rise, gaps or no gaps, cost
 * a word of their own once a window; any other nonce works for the price of a word; and none becomes free again.
 */
abstract contract PackedAccounts is ERC20Permit, ERC3009 {
    struct Account {
        uint96 balance;
        uint128 usedNonces;
        uint24 window;
        bool blocked;
    }

    uint256 public constant MAX_SUPPLY = type(uint96).max;

    mapping(address account => Account) private _accounts;
    mapping(address authorizer => mapping(uint256 window => uint128 usedNonces)) private _windows;
    uint256 private _supply;

    error AccountBlocked(address account);
    error MaxSupplyExceeded(uint256 supply, uint256 value);

    function totalSupply() public view override returns (uint256) {
        return _supply;
    }

    function balanceOf(address account) public view override returns (uint256) {
        return _accounts[account].balance;
    }

    function isBlocked(address account) public view returns (bool) {
        return _accounts[account].blocked;
    }

    /// True when the nonce was used or cancelled.
    function authorizationState(address authorizer, bytes32 nonce) public view override returns (bool) {
        Account storage account = _accounts[authorizer];
        (uint256 window, uint128 bit) = _locate(nonce);
        uint128 used = window == account.window ? account.usedNonces : _windows[authorizer][window];
        return used & bit != 0;
    }

    /// Every change of a balance passes here.
    function _update(address from, address to, uint256 value) internal virtual override {
        require(to != address(this), ERC20InvalidReceiver(to));
        if (from == address(0)) {
            uint256 supply = _supply;
            require(value <= MAX_SUPPLY - supply, MaxSupplyExceeded(supply, value));
            _supply = supply + value;
        } else {
            Account storage sender = _accounts[from];
            require(!sender.blocked, AccountBlocked(from));
            uint256 balance = sender.balance;
            require(value <= balance, ERC20InsufficientBalance(from, balance, value));
            unchecked {
                sender.balance = uint96(balance - value);
            }
        }
        if (to == address(0)) {
            _supply -= value;
        } else {
            Account storage receiver = _accounts[to];
            require(!receiver.blocked, AccountBlocked(to));
            unchecked {
                // The supply bounds every balance, and MAX_SUPPLY the supply.
                receiver.balance += uint96(value);
            }
        }
        emit Transfer(from, to, value);
    }

    function _consumeNonce(address authorizer, bytes32 nonce) internal override {
        Account storage account = _accounts[authorizer];
        (uint256 window, uint128 bit) = _locate(nonce);
        uint256 current = account.window;
        uint128 used = account.usedNonces;
        if (window > current && window <= type(uint24).max) {
            // No nonce above the account's window was ever used, so the new window is empty.
            if (used != 0) _windows[authorizer][current] = used;
            account.window = uint24(window);
            account.usedNonces = bit;
            return;
        }
        if (window != current) used = _windows[authorizer][window];
        require(used & bit == 0, ERC3009UsedAuthorization(authorizer, nonce));
        if (window == current) account.usedNonces = used | bit;
        else _windows[authorizer][window] = used | bit;
    }

    function _setBlocked(address account, bool blocked) internal {
        _accounts[account].blocked = blocked;
    }

    /// The standard's clock: seconds, both bounds exclusive. The base contract would read some
    /// values as block numbers.
    function _checkValidity(uint256 validAfter, uint256 validBefore) internal view override {
        require(
            block.timestamp > validAfter && block.timestamp < validBefore,
            ERC3009InvalidAuthorizationTime(validAfter, validBefore)
        );
    }

    function _locate(bytes32 nonce) private pure returns (uint256 window, uint128 bit) {
        return (uint256(nonce) >> 7, uint128(1 << (uint256(nonce) & 127)));
    }
}
