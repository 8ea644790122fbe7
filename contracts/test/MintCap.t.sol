// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IAccessControl} from "@openzeppelin/contracts/access/IAccessControl.sol";
import {MintCap} from "../src/MintCap.sol";
import {Batches} from "./support/Batches.sol";
import {MintCapHandler} from "./support/MintCapHandler.sol";

contract MintCapTest is Batches {
    uint96 private constant CAP = 1_000e6;

    function setUp() public override {
        super.setUp();
        setCap(CAP);
    }

    function test_mintsUpToTheCapAndNoMore(uint256 first) public {
        first = bound(first, 0, CAP);
        vm.assertEq(token.mintCapPerDay(), CAP);
        vm.assertEq(token.mintableToday(), CAP);
        give(alice, first);
        vm.assertEq(token.mintableToday(), CAP - first);
        vm.expectRevert(abi.encodeWithSelector(MintCap.MintCapExceeded.selector, CAP - first, CAP - first + 1));
        give(alice, CAP - first + 1);
        give(alice, CAP - first);
        vm.assertEq(token.mintableToday(), 0);
    }

    function test_aMintCountsForADayAtTheLeastAndTwentyEightHoursAtTheMost(uint256 start, uint256 later) public {
        start = NOW + bound(start, 0, 3 days);
        later = bound(later, 0, 3 days);
        vm.warp(start);
        give(alice, CAP);
        vm.warp(start + later);
        if (later <= 24 hours) vm.assertEq(token.mintableToday(), 0);
        if (later >= 28 hours) vm.assertEq(token.mintableToday(), CAP);
    }

    function test_mintsOfDifferentHoursBecomeFreeInTheirOrder() public {
        give(alice, 600e6);
        vm.warp(NOW + 10 hours);
        give(alice, 400e6);
        vm.warp(NOW + 28 hours);
        vm.assertEq(token.mintableToday(), 600e6);
        vm.warp(NOW + 38 hours);
        vm.assertEq(token.mintableToday(), CAP);
    }

    function test_theAdminSetsTheCap() public {
        give(alice, 600e6);
        vm.expectEmit(address(token));
        emit MintCap.MintCapPerDaySet(500e6);
        setCap(500e6);
        vm.assertEq(token.mintableToday(), 0);
        vm.expectRevert(abi.encodeWithSelector(MintCap.MintCapExceeded.selector, 0, 1));
        give(alice, 1);
        setCap(700e6);
        give(alice, 100e6);
        vm.prank(OPERATOR);
        vm.expectPartialRevert(IAccessControl.AccessControlUnauthorizedAccount.selector);
        token.setMintCapPerDay(CAP);
    }

    function test_theCapHoldsForAllMintersTogether() public {
        bytes32 role = token.MINTER_ROLE();
        vm.prank(ADMIN);
        token.grantRole(role, STRANGER);
        vm.prank(ADMIN);
        token.setMintAllowance(STRANGER, CAP);
        give(alice, 600e6);
        vm.prank(STRANGER);
        vm.expectRevert(abi.encodeWithSelector(MintCap.MintCapExceeded.selector, 400e6, 401e6));
        token.mint(STRANGER, 401e6);
    }

    function test_aMintBeyondTheCapFailsItsOwnOperationOnly() public {
        give(alice, 100e6);
        begin(1);
        add(mintTo(bob, 901e6));
        begin(2);
        add(mintTo(bob, 500e6));
        add(mintTo(bob, 401e6));
        begin(3);
        add(mintTo(carol, 900e6));
        begin(4);
        add(pay(ALICE_KEY, bob, 1, 0));
        (Outcome[] memory outcomes, bytes[] memory reasons) = execute();
        isOutcome(outcomes[0], Outcome.FAILED);
        isOutcome(outcomes[1], Outcome.FAILED);
        isOutcome(outcomes[2], Outcome.EXECUTED);
        isOutcome(outcomes[3], Outcome.EXECUTED);
        vm.assertEq(reasons[0], abi.encodeWithSelector(MintCap.MintCapExceeded.selector, 900e6, 901e6));
        vm.assertEq(reasons[1], abi.encodeWithSelector(MintCap.MintCapExceeded.selector, 400e6, 401e6));
        vm.assertEq(token.mintableToday(), 0);
    }

    function test_theDearestMintTakesLessThanIsReservedForIt() public {
        for (uint256 i; i < 7; ++i) {
            vm.warp(NOW + i * 4 hours);
            give(alice, 1);
        }
        // All six periods are read when the next mint comes a day after the last.
        vm.warp(NOW + 48 hours);
        begin(1);
        add(mintTo(carol, 1));
        steps[0].validBefore = type(uint256).max;
        vm.cool(address(token));
        vm.cool(address(manager));
        uint256 before = gasleft();
        execute();
        vm.assertLt(before - gasleft(), manager.GAS_PER_STEP(), "a mint and the batch around it");
        vm.assertTrue(manager.isExecuted(bytes32(uint256(1))));
    }

    function setCap(uint96 value) private {
        vm.prank(ADMIN);
        token.setMintCapPerDay(value);
    }
}

/// Random runs of mints, pauses and changes of the cap, against a list of every mint and its time.
contract MintCapInvariantsTest {
    MintCapHandler private handler;

    function setUp() public {
        handler = new MintCapHandler();
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(handler);
    }

    struct FuzzSelector {
        address addr;
        bytes4[] selectors;
    }

    function targetSelectors() external view returns (FuzzSelector[] memory targets) {
        bytes4[] memory selectors = new bytes4[](3);
        selectors[0] = MintCapHandler.mint.selector;
        selectors[1] = MintCapHandler.wait.selector;
        selectors[2] = MintCapHandler.setCap.selector;
        targets = new FuzzSelector[](1);
        targets[0] = FuzzSelector(address(handler), selectors);
    }

    function invariant_theViewAgreesWithEveryMintEverMade() external {
        handler.checkMintable();
    }
}
