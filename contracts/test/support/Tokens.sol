// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {Operation, PaymentManager, Step} from "../../src/PaymentManager.sol";

/// A faulty token: every mint reverts with excessive data.
contract ShoutingToken {
    function mint(address, uint256) external pure {
        assembly {
            mstore(0, not(0))
            revert(0, 1000000)
        }
    }
}

/// A hostile token: it re-enters as the operator in the middle of a batch.
contract ReenteringToken {
    function mint(address, uint256) external {
        PaymentManager(msg.sender).execute(new Operation[](0), new Step[](0));
    }
}

contract StrayToken is ERC20("Stray", "STRAY") {
    constructor(address to, uint256 value) {
        _mint(to, value);
    }
}
