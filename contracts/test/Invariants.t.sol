// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Handler} from "./support/Handler.sol";

/// Random sequences of all actions on the token and through the manager, against a model.
contract InvariantsTest {
    Handler private handler;

    function setUp() public {
        handler = new Handler();
    }

    /// For forge: call this contract's functions, and no other's.
    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(handler);
    }

    struct FuzzSelector {
        address addr;
        bytes4[] selectors;
    }

    function targetSelectors() external view returns (FuzzSelector[] memory targets) {
        bytes4[] memory selectors = new bytes4[](7);
        selectors[0] = Handler.transferByAuthorization.selector;
        selectors[1] = Handler.transferByHolder.selector;
        selectors[2] = Handler.cancelSome.selector;
        selectors[3] = Handler.cancelAny.selector;
        selectors[4] = Handler.executeBatch.selector;
        selectors[5] = Handler.setPaused.selector;
        selectors[6] = Handler.setBlocked.selector;
        targets = new FuzzSelector[](1);
        targets[0] = FuzzSelector(address(handler), selectors);
    }

    function invariant_theBooksAreRight() external view {
        handler.checkBalances();
    }

    function afterInvariant() external view {
        handler.checkSets();
    }
}
