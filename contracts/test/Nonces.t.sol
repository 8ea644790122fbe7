// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";
import {ERC3009} from "@openzeppelin/contracts/token/ERC20/extensions/draft-ERC3009.sol";
import {PackedAccounts} from "../src/PackedAccounts.sol";
import {Fixture} from "./support/Fixture.sol";

contract Accounts is PackedAccounts {
    constructor() ERC20("", "") ERC20Permit("") {}

    function use(address account, uint256 nonce) external {
        _consumeNonce(account, bytes32(nonce));
    }

    function give(address account, uint256 value) external {
        _mint(account, value);
    }

    function setBlocked(address account, bool blocked) external {
        _setBlocked(account, blocked);
    }
}

/// The packed nonces against their model: a set that only grows.
contract NoncesTest is Fixture {
    Accounts private accounts;
    mapping(uint256 nonce => bool used) private model;
    uint256[] private seen;
    uint256 private next;

    function setUp() public override {
        accounts = new Accounts();
    }

    /// forge-config: default.fuzz.runs = 128
    function test_isASetThatOnlyGrows(uint256 seed) public {
        accounts.give(alice, 77);
        for (uint256 nonce; nonce < 100; ++nonce) {
            tryToUse(nonce);
        }
        for (uint256 i; i < 200; ++i) {
            seed = uint256(keccak256(abi.encode(seed)));
            tryToUse(pick(seed));
        }
        for (uint256 i; i < seen.length; ++i) {
            agree(seen[i]);
            agree(seen[i] + 1);
            agree(seen[i] ^ 128);
        }
        vm.assertEq(accounts.balanceOf(alice), 77);
        vm.assertFalse(accounts.isBlocked(alice));
    }

    function test_inOrderOverManyWindows() public {
        for (uint256 nonce; nonce < 128 * 5 + 3; ++nonce) {
            tryToUse(nonce);
            agree(nonce + 1);
        }
        for (uint256 i; i < seen.length; ++i) {
            tryToUse(seen[i]);
        }
    }

    function test_movingUpLeavesNothingBehind() public {
        uint256[6] memory rising = [uint256(3), 127, 200, 255, 256, 1_000_000];
        for (uint256 i; i < rising.length; ++i) {
            tryToUse(rising[i]);
            for (uint256 nonce; nonce < 400; ++nonce) {
                agree(nonce);
            }
        }
        for (uint256 nonce; nonce < 400; ++nonce) {
            tryToUse(nonce);
            agree(nonce);
        }
        tryToUse(1_000_000);
        tryToUse(1_000_001);
    }

    function test_gapsCostNoOthers() public {
        for (uint256 nonce; nonce < 600; nonce += 7) {
            tryToUse(nonce);
        }
        for (uint256 nonce; nonce < 600; ++nonce) {
            agree(nonce);
        }
        for (uint256 nonce = 600; nonce > 0; --nonce) {
            tryToUse(nonce);
            agree(nonce - 1);
        }
    }

    function test_windowsThatDoNotFitTheWordStayOutOfIt() public {
        accounts.give(alice, 55);
        uint256 beyond = (uint256(type(uint24).max) + 1) * 128;
        uint256[7] memory order = [5, beyond, beyond - 1, type(uint256).max, beyond - 128, 6, beyond + 1];
        for (uint256 round; round < 2; ++round) {
            for (uint256 i; i < order.length; ++i) {
                tryToUse(order[i]);
                agree(order[i] ^ 1);
                agree(order[i]);
            }
        }
        vm.assertFalse(accounts.isBlocked(alice));
        vm.assertEq(accounts.balanceOf(alice), 55);
    }

    function test_holdersNoncesAreTheirOwn(uint256 nonce) public {
        accounts.use(alice, nonce);
        vm.assertFalse(accounts.authorizationState(bob, bytes32(nonce)));
        accounts.use(bob, nonce);
    }

    function test_blockingTouchesNothingElse(uint256 value, uint256 nonce) public {
        value = bound(value, 0, type(uint96).max);
        nonce = bound(nonce, 0, 200);
        accounts.give(alice, value);
        accounts.use(alice, nonce);
        accounts.setBlocked(alice, true);
        vm.assertEq(accounts.balanceOf(alice), value);
        agreeOnly(nonce);
        accounts.setBlocked(alice, false);
        vm.assertEq(accounts.balanceOf(alice), value);
        agreeOnly(nonce);
    }

    /// Mostly consecutive, as the relayer uses them; sometimes far ahead, random, or used before.
    function pick(uint256 seed) private returns (uint256) {
        uint256 dice = seed >> 248;
        while (model[next]) ++next;
        if (dice < 170) return next;
        if (dice < 200) return next + (seed & 15);
        if (dice < 220) return seed & 1023;
        if (dice < 240) return seen[seed % seen.length];
        if (dice < 242) return seed & type(uint32).max;
        return seed >> 8;
    }

    function tryToUse(uint256 nonce) private {
        if (model[nonce]) {
            vm.expectRevert(abi.encodeWithSelector(ERC3009.ERC3009UsedAuthorization.selector, alice, nonce));
        } else {
            seen.push(nonce);
            model[nonce] = true;
        }
        accounts.use(alice, nonce);
    }

    function agree(uint256 nonce) private view {
        require(accounts.authorizationState(alice, bytes32(nonce)) == model[nonce], "state differs from the set");
    }

    function agreeOnly(uint256 nonce) private view {
        for (uint256 other; other < 260; ++other) {
            require(accounts.authorizationState(alice, bytes32(other)) == (other == nonce), "another nonce");
        }
    }
}
