// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IAccessControl} from "@openzeppelin/contracts/access/IAccessControl.sol";
import {IERC20Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";
import {ERC3009} from "@openzeppelin/contracts/token/ERC20/extensions/draft-ERC3009.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {Operation, PaymentManager, Step} from "../src/PaymentManager.sol";
import {PackedAccounts} from "../src/PackedAccounts.sol";
import {WonToken} from "../src/WonToken.sol";
import {Batches} from "./support/Batches.sol";
import {StrayToken} from "./support/Tokens.sol";

contract PaymentManagerTest is Batches {
    function setUp() public override {
        super.setUp();
        give(alice, 100);
    }

    function test_settlesAPayment(uint256 id, uint256 value, uint256 nonce) public {
        value = bound(value, 0, 100);
        begin(id);
        add(pay(ALICE_KEY, bob, value, nonce));
        (Outcome outcome,) = executeOne();
        isOutcome(outcome, Outcome.EXECUTED);
        vm.assertTrue(manager.isExecuted(bytes32(id)));
        vm.assertEq(token.balanceOf(alice), 100 - value);
        vm.assertEq(token.balanceOf(bob), value);
    }

    function test_settlesAPaymentOfManyLegsWithItsAccrual() public {
        give(carol, 30);
        begin(1);
        add(pay(CAROL_KEY, bob, 30, 0));
        add(pay(ALICE_KEY, bob, 70, 0));
        add(mintTo(carol, 7));
        (Outcome outcome,) = executeOne();
        isOutcome(outcome, Outcome.EXECUTED);
        vm.assertEq(token.balanceOf(alice), 30);
        vm.assertEq(token.balanceOf(bob), 100);
        vm.assertEq(token.balanceOf(carol), 7);

        begin(2);
        add(pay(BOB_KEY, carol, 30, 0));
        add(pay(BOB_KEY, alice, 70, 1));
        add(burnOf(CAROL_KEY, 7, 1));
        (outcome,) = executeOne();
        isOutcome(outcome, Outcome.EXECUTED);
        vm.assertEq(token.balanceOf(alice), 100);
        vm.assertEq(token.balanceOf(bob), 0);
        vm.assertEq(token.balanceOf(carol), 30);
        vm.assertEq(token.totalSupply(), 130);
    }

    function test_mintsAndBurns() public {
        begin(1);
        add(mintTo(bob, 50));
        begin(2);
        add(burnOf(BOB_KEY, 20, 0));
        (Outcome[] memory outcomes,) = execute();
        isOutcome(outcomes[0], Outcome.EXECUTED);
        isOutcome(outcomes[1], Outcome.EXECUTED);
        vm.assertEq(token.balanceOf(bob), 30);
        vm.assertEq(token.totalSupply(), 130);
    }

    function test_undoesEveryStepWhenOneFails() public {
        begin(1);
        add(mintTo(carol, 7));
        add(pay(ALICE_KEY, bob, 60, 0));
        add(pay(ALICE_KEY, bob, 60, 1));
        (Outcome outcome, bytes memory reason) = executeOne();
        isOutcome(outcome, Outcome.FAILED);
        vm.assertEq(reason, abi.encodeWithSelector(IERC20Errors.ERC20InsufficientBalance.selector, alice, 40, 60));
        vm.assertFalse(manager.isExecuted(bytes32(uint256(1))));
        vm.assertFalse(token.authorizationState(alice, bytes32(0)));
        vm.assertEq(token.balanceOf(alice), 100);
        vm.assertEq(token.totalSupply(), 100);
        vm.assertEq(token.mintAllowance(address(manager)), MINT_ALLOWANCE - 100);
    }

    function test_aFailedOperationMayBeTriedAgain() public {
        begin(1);
        add(pay(ALICE_KEY, bob, 150, 0));
        Step memory step = steps[0];
        (Outcome outcome,) = executeOne();
        isOutcome(outcome, Outcome.FAILED);
        give(alice, 50);
        begin(1);
        add(step);
        (outcome,) = executeOne();
        isOutcome(outcome, Outcome.EXECUTED);
    }

    function test_refusesTheSecondTime(uint256 id, bool inTheSameBatch) public {
        begin(id);
        add(mintTo(bob, 5));
        if (!inTheSameBatch) execute();
        begin(id);
        add(mintTo(bob, 5));
        begin(id ^ 1);
        add(mintTo(bob, 1));
        (Outcome[] memory outcomes,) = execute();
        uint256 last = outcomes.length - 1;
        isOutcome(outcomes[last - 1], Outcome.REPEATED);
        isOutcome(outcomes[last], Outcome.EXECUTED);
        vm.assertEq(token.balanceOf(bob), 6);
    }

    function test_saysWhyAnOperationFailed() public {
        vm.prank(BLOCKLISTER);
        token.setBlocked(carol, true);
        token.transferWithAuthorization(alice, bob, 1, 0, SOON, 0, signedFirstOfAlice());

        begin(0);
        add(pay(ALICE_KEY, bob, 1, 0));
        begin(1);
        add(pay(ALICE_KEY, carol, 1, 1));
        begin(2);
        add(pay(ALICE_KEY, bob, 1, 2));
        steps[2].from = bob;
        begin(3);
        add(mintTo(bob, MINT_ALLOWANCE));
        begin(4);
        begin(5);
        add(mintTo(bob, 1));
        steps[4].kind = 3;
        begin(6);
        add(mintTo(bob, 1));
        steps[5].validBefore = NOW;
        begin(7);
        add(pay(ALICE_KEY, bob, 1, 3));
        (Outcome[] memory outcomes, bytes[] memory reasons) = execute();

        for (uint256 i; i < 7; ++i) {
            isOutcome(outcomes[i], Outcome.FAILED);
        }
        isOutcome(outcomes[7], Outcome.EXECUTED);
        vm.assertEq(reasons[0], abi.encodeWithSelector(ERC3009.ERC3009UsedAuthorization.selector, alice, 0));
        vm.assertEq(reasons[1], abi.encodeWithSelector(PackedAccounts.AccountBlocked.selector, carol));
        vm.assertEq(reasons[2], abi.encodeWithSelector(ERC3009.ERC3009InvalidSignature.selector));
        vm.assertEq(
            reasons[3],
            abi.encodeWithSelector(
                WonToken.MintAllowanceExceeded.selector, address(manager), MINT_ALLOWANCE - 100, MINT_ALLOWANCE
            )
        );
        vm.assertEq(reasons[4], abi.encodeWithSelector(PaymentManager.OperationEmpty.selector));
        vm.assertEq(reasons[5], abi.encodeWithSelector(PaymentManager.StepKindUnknown.selector, 3));
        vm.assertEq(reasons[6], abi.encodeWithSelector(PaymentManager.StepExpired.selector, NOW));
    }

    function test_expiredAuthorizationsFailWithTheirTimes() public {
        begin(1);
        add(pay(ALICE_KEY, bob, 1, 0));
        vm.warp(SOON);
        (Outcome outcome, bytes memory reason) = executeOne();
        isOutcome(outcome, Outcome.FAILED);
        vm.assertEq(reason, abi.encodeWithSelector(ERC3009.ERC3009InvalidAuthorizationTime.selector, 0, SOON));
    }

    function test_aPausedTokenFailsOperationsAndSpoilsNone() public {
        begin(1);
        add(pay(ALICE_KEY, bob, 1, 0));
        Step memory step = steps[0];
        vm.prank(PAUSER);
        token.pause();
        (Outcome outcome, bytes memory reason) = executeOne();
        isOutcome(outcome, Outcome.FAILED);
        vm.assertEq(reason, abi.encodeWithSelector(Pausable.EnforcedPause.selector));
        vm.prank(PAUSER);
        token.unpause();
        begin(1);
        add(step);
        (outcome,) = executeOne();
        isOutcome(outcome, Outcome.EXECUTED);
    }

    /// Random batches of valid and invalid operations: each one acts as it does alone.
    function test_aBatchIsItsOperationsOneByOne(uint256 seed) public {
        give(bob, 50);
        for (uint256 i; i < 12; ++i) {
            seed = uint256(keccak256(abi.encode(seed)));
            begin(1_000 + seed % 10);
            uint256 count = (seed >> 8) % 4;
            for (uint256 k; k < count; ++k) {
                add(randomStep(seed >> (16 + 40 * k)));
            }
        }
        Operation[] memory batch = operations;
        Step[] memory all = steps;
        WonToken batchToken = token;
        PaymentManager batchManager = manager;
        (Outcome[] memory together, bytes[] memory reasons) = execute();

        twin();
        uint256 next;
        for (uint256 i; i < batch.length; ++i) {
            begin(uint256(batch[i].id));
            for (uint256 k; k < batch[i].stepCount; ++k) {
                add(resigned(all[next++]));
            }
            (Outcome alone, bytes memory reason) = executeOne();
            isOutcome(together[i], alone);
            vm.assertEq(bytes4(reasons[i]), bytes4(reason));
        }
        for (uint256 i; i < batch.length; ++i) {
            vm.assertTrue(batchManager.isExecuted(batch[i].id) == manager.isExecuted(batch[i].id), "executed");
        }
        vm.assertEq(batchToken.balanceOf(alice), token.balanceOf(alice));
        vm.assertEq(batchToken.balanceOf(bob), token.balanceOf(bob));
        vm.assertEq(batchToken.balanceOf(carol), token.balanceOf(carol));
        vm.assertEq(batchToken.totalSupply(), token.totalSupply());
        vm.assertEq(batchToken.balanceOf(address(batchManager)), 0);
    }

    function test_anEmptyBatchDoesNothing() public {
        execute();
    }

    function test_nothingStaysWithTheManager() public {
        vm.prank(alice);
        token.transfer(address(manager), 40);
        StrayToken stray = new StrayToken(address(manager), 3);
        vm.prank(OPERATOR);
        vm.expectPartialRevert(IAccessControl.AccessControlUnauthorizedAccount.selector);
        manager.sweep(token, OPERATOR);
        vm.prank(ADMIN);
        manager.sweep(token, alice);
        vm.prank(ADMIN);
        manager.sweep(stray, carol);
        vm.assertEq(token.balanceOf(alice), 100);
        vm.assertEq(stray.balanceOf(carol), 3);
    }

    function test_takesNoEther() public {
        (bool done,) = address(manager).call{value: 1}("");
        vm.assertFalse(done);
    }

    function randomStep(uint256 seed) private view returns (Step memory step) {
        uint256[3] memory keys = [ALICE_KEY, BOB_KEY, CAROL_KEY];
        uint256 key = keys[seed % 3];
        address to = vm.addr(keys[(seed >> 2) % 3]);
        uint256 value = (seed >> 4) % 40;
        uint256 nonce = (seed >> 12) % 6;
        uint256 kind = (seed >> 16) % 8;
        if (kind < 5) step = pay(key, to, value, nonce);
        else if (kind == 5) step = mintTo(to, value);
        else if (kind == 6) step = burnOf(key, value, nonce);
        else step.kind = uint8(seed >> 20) | 4;
    }

    /// A second token and manager in the state before the first batch.
    function twin() private {
        setUp();
        give(bob, 50);
    }

    function resigned(Step memory step) private view returns (Step memory) {
        uint256 key = step.from == alice ? ALICE_KEY : step.from == bob ? BOB_KEY : CAROL_KEY;
        if (step.kind == manager.TRANSFER()) return pay(key, step.to, step.value, uint256(step.nonce));
        if (step.kind == manager.BURN()) return burnOf(key, step.value, uint256(step.nonce));
        return step;
    }

    function signedFirstOfAlice() private view returns (bytes memory) {
        return signedBytes(ALICE_KEY, TRANSFER_TYPEHASH, authorization(alice, bob, 1, 0));
    }
}
