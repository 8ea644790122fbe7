// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IAccessControl} from "@openzeppelin/contracts/access/IAccessControl.sol";
import {IERC3009} from "@openzeppelin/contracts/interfaces/draft-IERC3009.sol";
import {IERC20Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";
import {ERC3009} from "@openzeppelin/contracts/token/ERC20/extensions/draft-ERC3009.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {PackedAccounts} from "../src/PackedAccounts.sol";
import {WonToken} from "../src/WonToken.sol";
import {Fixture} from "./support/Fixture.sol";

contract WonTokenTest is Fixture {
    bytes32 private constant PERMIT_TYPEHASH =
        keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");

    function test_presentsItself() public view {
        vm.assertEq(token.name(), "Wonrail Won");
        vm.assertEq(token.symbol(), "WON");
        vm.assertEq(token.decimals(), 6);
        vm.assertEq(token.totalSupply(), 0);
        vm.assertEq(token.DOMAIN_SEPARATOR(), ourDomain());
        vm.assertTrue(token.supportsInterface(type(IAccessControl).interfaceId));
    }

    function test_givesTheDeployerNothing() public view {
        vm.assertFalse(token.hasRole(token.DEFAULT_ADMIN_ROLE(), address(this)));
        vm.assertEq(token.defaultAdmin(), ADMIN);
        vm.assertEq(token.mintAllowance(address(this)), 0);
        vm.assertEq(token.mintAllowance(address(manager)), MINT_ALLOWANCE);
    }

    function test_mintSpendsTheMintersAllowance(uint256 value) public {
        value = bound(value, 0, MINT_ALLOWANCE);
        give(alice, value);
        vm.assertEq(token.balanceOf(alice), value);
        vm.assertEq(token.totalSupply(), value);
        vm.assertEq(token.mintAllowance(address(manager)), MINT_ALLOWANCE - value);
    }

    function test_refusesToMintBeyondTheAllowance() public {
        give(alice, MINT_ALLOWANCE - 1);
        vm.expectRevert(abi.encodeWithSelector(WonToken.MintAllowanceExceeded.selector, address(manager), 1, 2));
        give(alice, 2);
    }

    function test_theAdminSetsTheAllowance() public {
        vm.expectEmit(address(token));
        emit WonToken.MintAllowanceSet(address(manager), 5);
        vm.prank(ADMIN);
        token.setMintAllowance(address(manager), 5);
        give(alice, 5);
        vm.expectPartialRevert(WonToken.MintAllowanceExceeded.selector);
        give(alice, 1);
    }

    function test_anAllowanceIsNoRole() public {
        vm.prank(ADMIN);
        token.setMintAllowance(STRANGER, 5);
        vm.prank(STRANGER);
        vm.expectPartialRevert(IAccessControl.AccessControlUnauthorizedAccount.selector);
        token.mint(STRANGER, 1);
    }

    function test_theSupplyHasABound() public {
        uint256 bound_ = token.MAX_SUPPLY();
        vm.prank(ADMIN);
        token.setMintAllowance(address(manager), type(uint256).max);
        give(alice, bound_);
        vm.assertEq(token.balanceOf(alice), bound_);
        // The mint cap, which is the largest there can be, is free again.
        vm.warp(NOW + 2 days);
        vm.expectRevert(abi.encodeWithSelector(PackedAccounts.MaxSupplyExceeded.selector, bound_, 1));
        give(bob, 1);
        vm.expectRevert(abi.encodeWithSelector(PackedAccounts.MaxSupplyExceeded.selector, bound_, bound_));
        give(bob, bound_);
    }

    function test_transfersMoveBalances(uint256 balance, uint256 value) public {
        balance = bound(balance, 0, MINT_ALLOWANCE);
        value = bound(value, 0, balance);
        give(alice, balance);
        vm.prank(alice);
        token.transfer(bob, value);
        vm.assertEq(token.balanceOf(alice), balance - value);
        vm.assertEq(token.balanceOf(bob), value);
        vm.assertEq(token.totalSupply(), balance);
    }

    function test_aTransferToOneselfChangesNothing() public {
        give(alice, 10);
        vm.prank(alice);
        token.transfer(alice, 10);
        vm.assertEq(token.balanceOf(alice), 10);
    }

    function test_refusesMoreThanTheBalance(uint256 value) public {
        value = bound(value, 11, type(uint256).max);
        give(alice, 10);
        vm.prank(alice);
        vm.expectRevert(abi.encodeWithSelector(IERC20Errors.ERC20InsufficientBalance.selector, alice, 10, value));
        token.transfer(bob, value);
    }

    function test_refusesTransfersToTheTokenItself() public {
        give(alice, 10);
        vm.prank(alice);
        vm.expectRevert(abi.encodeWithSelector(IERC20Errors.ERC20InvalidReceiver.selector, address(token)));
        token.transfer(address(token), 1);
    }

    function test_spendersUseTheirAllowance() public {
        give(alice, 10);
        vm.prank(alice);
        token.approve(bob, 6);
        vm.prank(bob);
        token.transferFrom(alice, carol, 4);
        vm.assertEq(token.allowance(alice, bob), 2);
        vm.prank(bob);
        vm.expectPartialRevert(IERC20Errors.ERC20InsufficientAllowance.selector);
        token.transferFrom(alice, carol, 3);
    }

    function test_permitSetsAnAllowanceOnce() public {
        bytes32 structHash = keccak256(abi.encode(PERMIT_TYPEHASH, alice, bob, 7, 0, SOON));
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(ALICE_KEY, digest(ourDomain(), structHash));
        token.permit(alice, bob, 7, SOON, v, r, s);
        vm.assertEq(token.allowance(alice, bob), 7);
        vm.expectRevert();
        token.permit(alice, bob, 7, SOON, v, r, s);
    }

    function test_aPauseStopsEveryBalance() public {
        give(alice, 10);
        vm.prank(PAUSER);
        token.pause();

        vm.prank(alice);
        vm.expectRevert(Pausable.EnforcedPause.selector);
        token.transfer(bob, 1);
        vm.expectRevert(Pausable.EnforcedPause.selector);
        give(alice, 1);
        Authorization memory a = authorization(alice, address(0), 1, 0);
        (uint8 v, bytes32 r, bytes32 s) = signed(ALICE_KEY, BURN_TYPEHASH, a);
        vm.prank(address(manager));
        vm.expectRevert(Pausable.EnforcedPause.selector);
        burn(a, v, r, s);

        vm.prank(PAUSER);
        token.unpause();
        vm.prank(address(manager));
        burn(a, v, r, s);
        vm.assertEq(token.balanceOf(alice), 9);
    }

    function test_aBlockedAccountNeitherGivesNorTakes() public {
        give(alice, 10);
        give(bob, 10);
        vm.prank(alice);
        token.approve(carol, 10);
        vm.expectEmit(address(token));
        emit WonToken.AccountBlockSet(bob, true);
        setBlocked(bob, true);
        vm.assertTrue(token.isBlocked(bob));
        vm.assertEq(token.balanceOf(bob), 10);

        bytes memory reason = abi.encodeWithSelector(PackedAccounts.AccountBlocked.selector, bob);
        vm.prank(bob);
        vm.expectRevert(reason);
        token.transfer(alice, 1);
        vm.prank(alice);
        vm.expectRevert(reason);
        token.transfer(bob, 1);
        vm.expectRevert(reason);
        give(bob, 1);

        setBlocked(bob, false);
        vm.assertFalse(token.isBlocked(bob));
        vm.prank(bob);
        token.transfer(alice, 10);
    }

    function test_aBlockedSpenderSpendsNothing() public {
        give(alice, 10);
        vm.prank(alice);
        token.approve(carol, 10);
        setBlocked(carol, true);
        vm.prank(carol);
        vm.expectRevert(abi.encodeWithSelector(PackedAccounts.AccountBlocked.selector, carol));
        token.transferFrom(alice, bob, 1);
    }

    function test_burnsWithTheHoldersAuthorizationOnly() public {
        give(alice, 10);
        Authorization memory a = authorization(alice, address(0), 4, 0);
        (uint8 v, bytes32 r, bytes32 s) = signed(BOB_KEY, BURN_TYPEHASH, a);
        vm.prank(address(manager));
        vm.expectRevert();
        burn(a, v, r, s);

        (v, r, s) = signed(ALICE_KEY, BURN_TYPEHASH, a);
        vm.prank(STRANGER);
        vm.expectPartialRevert(IAccessControl.AccessControlUnauthorizedAccount.selector);
        burn(a, v, r, s);

        vm.prank(address(manager));
        burn(a, v, r, s);
        vm.assertEq(token.balanceOf(alice), 6);
        vm.assertEq(token.totalSupply(), 6);
        vm.assertTrue(token.authorizationState(alice, a.nonce));
    }

    function test_aBurnIsBoundToItsTimesAndWorksOnce() public {
        give(alice, 10);
        Authorization memory a = Authorization(alice, address(0), 4, NOW, SOON, 0);
        (uint8 v, bytes32 r, bytes32 s) = signed(ALICE_KEY, BURN_TYPEHASH, a);
        vm.startPrank(address(manager));
        vm.expectPartialRevert(ERC3009.ERC3009InvalidAuthorizationTime.selector);
        burn(a, v, r, s);
        vm.warp(SOON);
        vm.expectPartialRevert(ERC3009.ERC3009InvalidAuthorizationTime.selector);
        burn(a, v, r, s);
        vm.warp(SOON - 1);
        vm.expectEmit(address(token));
        emit IERC3009.AuthorizationUsed(alice, 0);
        burn(a, v, r, s);
        vm.expectRevert(abi.encodeWithSelector(ERC3009.ERC3009UsedAuthorization.selector, alice, 0));
        burn(a, v, r, s);
        vm.stopPrank();
    }

    function test_theAdminChangesInTwoStepsAfterTheDelay() public {
        vm.prank(ADMIN);
        token.beginDefaultAdminTransfer(carol);
        vm.assertEq(token.defaultAdmin(), ADMIN);
        vm.prank(carol);
        vm.expectRevert();
        token.acceptDefaultAdminTransfer();
        vm.warp(NOW + 1 days + 1);
        vm.prank(carol);
        token.acceptDefaultAdminTransfer();
        vm.assertEq(token.defaultAdmin(), carol);
        vm.assertFalse(token.hasRole(token.DEFAULT_ADMIN_ROLE(), ADMIN));
    }

    function test_thereIsOneAdminAtATime() public {
        bytes32 role = token.DEFAULT_ADMIN_ROLE();
        vm.prank(ADMIN);
        vm.expectRevert();
        token.grantRole(role, carol);
    }

    function setBlocked(address account, bool blocked) private {
        vm.prank(BLOCKLISTER);
        token.setBlocked(account, blocked);
    }
}
