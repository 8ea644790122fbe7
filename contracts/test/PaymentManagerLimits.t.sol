// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IAccessControl} from "@openzeppelin/contracts/access/IAccessControl.sol";
import {IERC20Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {Operation, PaymentManager, Step} from "../src/PaymentManager.sol";
import {WonToken} from "../src/WonToken.sol";
import {Batches} from "./support/Batches.sol";
import {ReenteringToken, ShoutingToken} from "./support/Tokens.sol";

/// The manager's limits hold for every caller, every amount of gas and every argument.
contract PaymentManagerLimitsTest is Batches {
    function setUp() public override {
        super.setUp();
        give(alice, 100);
    }

    /// For every amount of gas: the batch reverts completely, or every operation has its outcome
    /// under ample gas.
    function test_tooLittleGasNeverChangesAnOutcome() public {
        writeMixedBatch();
        bytes memory call = abi.encodeCall(PaymentManager.execute, (operations, steps));
        bool ever;
        for (uint256 gas_ = 30_000; gas_ < 2_200_000; gas_ += 2_199) {
            bool done = this.tryWithGas(call, gas_);
            vm.assertTrue(done || !ever, "more gas did worse");
            ever = done;
        }
        vm.assertTrue(ever, "never enough");
    }

    /// Runs the batch with this much gas, checks it, and undoes it.
    function tryWithGas(bytes calldata call, uint256 gas_) external returns (bool) {
        try this.runAndRevert(call, gas_) {
            revert("not reached");
        } catch (bytes memory verdict) {
            vm.assertEq(verdict.length, 32, "outcome differs");
            return abi.decode(verdict, (bool));
        }
    }

    function runAndRevert(bytes calldata call, uint256 gas_) external {
        vm.recordLogs();
        vm.prank(OPERATOR);
        (bool done,) = address(manager).call{gas: gas_}(call);
        if (done) checkMixedBatch();
        assembly {
            mstore(0, done)
            revert(0, 32)
        }
    }

    function test_saysWhichOperationLackedGas() public {
        writeMixedBatch();
        uint256 needed = manager.GAS_PER_STEP() * 2;
        vm.prank(OPERATOR);
        vm.expectRevert(abi.encodeWithSelector(PaymentManager.GasTooLow.selector, 0));
        manager.execute{gas: needed}(operations, steps);
    }

    function test_theDearestStepTakesLessThanIsReservedForIt() public {
        vm.prank(ADMIN);
        token.setMintAllowance(address(manager), type(uint256).max);
        begin(1);
        add(pay(ALICE_KEY, bob, 1, uint256(keccak256("anywhere"))));
        measureStep();
        begin(2);
        add(mintTo(carol, 1));
        measureStep();
        begin(3);
        add(burnOf(ALICE_KEY, 1, uint256(keccak256("elsewhere"))));
        measureStep();
    }

    function measureStep() private {
        (Operation[] memory batch, Step[] memory step) = (operations, steps);
        clear();
        vm.cool(address(token));
        vm.cool(address(manager));
        vm.prank(OPERATOR);
        uint256 before = gasleft();
        manager.execute(batch, step);
        uint256 used = before - gasleft();
        vm.assertTrue(manager.isExecuted(batch[0].id));
        vm.assertLt(used, manager.GAS_PER_STEP(), "a step and the batch around it");
    }

    function test_revertsWhenStepsDoNotAddUp() public {
        begin(1);
        add(mintTo(bob, 1));
        operations[0].stepCount = 0;
        vm.prank(OPERATOR);
        vm.expectRevert(abi.encodeWithSelector(PaymentManager.StepsLeftOver.selector, 1));
        manager.execute(operations, steps);

        operations[0].stepCount = 2;
        vm.prank(OPERATOR);
        vm.expectRevert();
        manager.execute(operations, steps);

        operations[0].stepCount = type(uint256).max;
        vm.prank(OPERATOR);
        vm.expectRevert();
        manager.execute(operations, steps);
    }

    function test_onlyTheOperatorExecutes() public {
        bytes32 role = manager.OPERATOR_ROLE();
        vm.prank(ADMIN);
        vm.expectRevert(abi.encodeWithSelector(IAccessControl.AccessControlUnauthorizedAccount.selector, ADMIN, role));
        manager.execute(operations, steps);
    }

    function test_onlyItselfTakesSteps() public {
        vm.prank(OPERATOR);
        vm.expectRevert(PaymentManager.CallerNotSelf.selector);
        manager.takeAll(steps);
    }

    function test_copiesABoundedReasonOnly() public {
        manager = newManager(address(new ShoutingToken()), OPERATOR);
        begin(1);
        add(mintTo(bob, 1));
        begin(2);
        add(mintTo(bob, 1));
        add(mintTo(bob, 1));
        (Outcome[] memory outcomes, bytes[] memory reasons) = execute();
        for (uint256 i; i < 2; ++i) {
            isOutcome(outcomes[i], Outcome.FAILED);
            vm.assertEq(reasons[i].length, 132);
        }
    }

    function test_isNotReentered() public {
        address bad = address(new ReenteringToken());
        manager = newManager(bad, bad);
        bytes32 role = manager.OPERATOR_ROLE();
        vm.prank(ADMIN);
        manager.grantRole(role, OPERATOR);
        begin(1);
        add(mintTo(bob, 1));
        (Outcome outcome, bytes memory reason) = executeOne();
        isOutcome(outcome, Outcome.FAILED);
        vm.assertEq(reason, abi.encodeWithSelector(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector));
    }

    function writeMixedBatch() private {
        begin(1);
        add(pay(ALICE_KEY, bob, 10, 0));
        begin(2);
        add(pay(ALICE_KEY, bob, 10, 1));
        add(mintTo(carol, 1));
        begin(3);
        add(pay(ALICE_KEY, bob, 1_000, 2));
        begin(2);
        add(mintTo(carol, 1));
        begin(4);
        add(mintTo(carol, 5));
        add(burnOf(CAROL_KEY, 6, 0));
        begin(5);
        add(pay(ALICE_KEY, bob, 10, 2));
        // Expensive enough that the gas a call must leave to its caller (1/64) would pay for a
        // false failure event.
        begin(6);
        for (uint160 i = 1; i <= 8; ++i) {
            add(mintTo(address(0xF00 + i), 1));
        }
    }

    function checkMixedBatch() private {
        (Outcome[] memory outcomes, bytes[] memory reasons) = read(vm.getRecordedLogs());
        Outcome[7] memory expected = [
            Outcome.EXECUTED,
            Outcome.EXECUTED,
            Outcome.FAILED,
            Outcome.REPEATED,
            Outcome.EXECUTED,
            Outcome.EXECUTED,
            Outcome.EXECUTED
        ];
        for (uint256 i; i < 7; ++i) {
            isOutcome(outcomes[i], expected[i]);
        }
        vm.assertEq(bytes32(bytes4(reasons[2])), bytes32(IERC20Errors.ERC20InsufficientBalance.selector));
    }
}
