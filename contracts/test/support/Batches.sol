// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Operation, PaymentManager, Step} from "../../src/PaymentManager.sol";
import {Fixture} from "./Fixture.sol";
import {Vm} from "./Vm.sol";

/// Batches written step by step, and the outcome of each operation read back from its event.
abstract contract Batches is Fixture {
    enum Outcome {
        NONE,
        EXECUTED,
        REPEATED,
        FAILED
    }

    Operation[] internal operations;
    Step[] internal steps;

    function begin(uint256 id) internal {
        operations.push(Operation(bytes32(id), 0));
    }

    function add(Step memory step) internal {
        steps.push(step);
        ++operations[operations.length - 1].stepCount;
    }

    function clear() internal {
        delete operations;
        delete steps;
    }

    function pay(uint256 key, address to, uint256 value, uint256 nonce) internal view returns (Step memory) {
        Authorization memory a = authorization(ownerOf(key), to, value, nonce);
        (bytes32 r, bytes32 vs) = compact(key, TRANSFER_TYPEHASH, a);
        return Step(manager.TRANSFER(), a.from, to, value, SOON, a.nonce, r, vs);
    }

    function burnOf(uint256 key, uint256 value, uint256 nonce) internal view returns (Step memory) {
        Authorization memory a = authorization(ownerOf(key), address(0), value, nonce);
        (bytes32 r, bytes32 vs) = compact(key, BURN_TYPEHASH, a);
        return Step(manager.BURN(), a.from, address(0), value, SOON, a.nonce, r, vs);
    }

    function ownerOf(uint256 key) private view returns (address) {
        return key == ALICE_KEY ? alice : key == BOB_KEY ? bob : carol;
    }

    function mintTo(address to, uint256 value) internal view returns (Step memory) {
        return Step(manager.MINT(), address(0), to, value, SOON, 0, 0, 0);
    }

    function compact(uint256 key, bytes32 typehash, Authorization memory a)
        internal
        view
        returns (bytes32 r, bytes32 vs)
    {
        uint8 v;
        (v, r, vs) = signed(key, typehash, a);
        if (v == 28) vs |= bytes32(uint256(1) << 255);
    }

    /// Sends the batch and returns each operation's outcome and reason, in the batch's order.
    function execute() internal returns (Outcome[] memory outcomes, bytes[] memory reasons) {
        vm.recordLogs();
        vm.prank(OPERATOR);
        manager.execute(operations, steps);
        (outcomes, reasons) = read(vm.getRecordedLogs());
        clear();
    }

    function executeOne() internal returns (Outcome outcome, bytes memory reason) {
        (Outcome[] memory outcomes, bytes[] memory reasons) = execute();
        vm.assertEq(outcomes.length, 1);
        return (outcomes[0], reasons[0]);
    }

    /// The n-th event of the manager must be of the n-th operation, and there must be no other.
    function read(Vm.Log[] memory logs) internal view returns (Outcome[] memory outcomes, bytes[] memory reasons) {
        outcomes = new Outcome[](operations.length);
        reasons = new bytes[](operations.length);
        uint256 next;
        for (uint256 i; i < logs.length; ++i) {
            if (logs[i].emitter != address(manager)) continue;
            vm.assertTrue(next < operations.length, "more events than operations");
            vm.assertEq(logs[i].topics[1], operations[next].id);
            bytes32 topic = logs[i].topics[0];
            if (topic == PaymentManager.OperationExecuted.selector) outcomes[next] = Outcome.EXECUTED;
            if (topic == PaymentManager.OperationRepeated.selector) outcomes[next] = Outcome.REPEATED;
            if (topic == PaymentManager.OperationFailed.selector) {
                outcomes[next] = Outcome.FAILED;
                reasons[next] = abi.decode(logs[i].data, (bytes));
            }
            ++next;
        }
        vm.assertEq(next, operations.length, "operations without an event");
    }

    function isOutcome(Outcome outcome, Outcome expected) internal pure {
        vm.assertEq(uint256(outcome), uint256(expected), "outcome");
    }
}
