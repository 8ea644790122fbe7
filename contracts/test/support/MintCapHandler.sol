// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Fixture} from "./Fixture.sol";

/// Mints, waits and sets the cap at random. The model is the list of all mints with their times.
contract MintCapHandler is Fixture {
    struct Minted {
        uint256 at;
        uint256 value;
    }

    Minted[] private mints;
    uint256 private cap;
    uint256 private time = NOW;

    constructor() {
        setUp();
        setCap(1_000);
    }

    function mint(uint256 value) external {
        vm.warp(time);
        value %= 700;
        vm.prank(address(manager));
        try token.mint(alice, value) {
            mints.push(Minted(time, value));
            require(value == 0 || mintedWithin(24 hours) <= cap, "more than the cap in 24 hours");
        } catch {
            require(mintedWithin(28 hours) + value > cap, "refused a mint that fits");
        }
    }

    function wait(uint256 seconds_) external {
        time += seconds_ % 3 == 0 ? seconds_ % 2 days : seconds_ % 3 hours;
    }

    function setCap(uint256 value) public {
        cap = value % 2_000;
        vm.prank(ADMIN);
        token.setMintCapPerDay(uint96(cap));
    }

    function checkMintable() external {
        vm.warp(time);
        uint256 mintable = token.mintableToday();
        uint256 inADay = mintedWithin(24 hours);
        uint256 inTwentyEightHours = mintedWithin(28 hours);
        require(inADay >= cap ? mintable == 0 : mintable <= cap - inADay, "shows more than the cap leaves");
        require(inTwentyEightHours >= cap || mintable >= cap - inTwentyEightHours, "shows less than is free");
    }

    function mintedWithin(uint256 seconds_) private view returns (uint256 sum) {
        for (uint256 i = mints.length; i > 0 && mints[i - 1].at + seconds_ >= time; --i) {
            sum += mints[i - 1].value;
        }
    }
}
