// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {
    AccessControlDefaultAdminRules
} from "@openzeppelin/contracts/access/extensions/AccessControlDefaultAdminRules.sol";
import {IERC3009} from "@openzeppelin/contracts/interfaces/draft-IERC3009.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {LowLevelCall} from "@openzeppelin/contracts/utils/LowLevelCall.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {WonToken} from "./WonToken.sol";

/// An operation is the next `stepCount` of the batch's steps. They all happen or none does.
struct Operation {
    bytes32 id;
    uint256 stepCount;
}

/// A movement of tokens. `r` and `vs` are the holder's signature (ERC-2098); a mint needs none, and no nonce.
struct Step {
    uint8 kind;
    address from;
    address to;
    uint256 value;
    uint256 validBefore;
    bytes32 nonce;
    bytes32 r;
    bytes32 vs;
}

/**
 * Settles operations on the token, many in one transaction. Each operation ends in exactly one event:
 *   OperationExecuted   all its steps happened, now
 *   OperationRepeated   it was executed before; nothing happened
 *   OperationFailed     nothing happened, with the reason. Its id is still free: the same operation may be tried again
 * Operations do not depend on each other. Only a batch that is cut short of gas, or whose steps do not add up, reverts
 * as a whole.
 *
 * It holds no tokens and can move none without their holder's signature. It calls the token only, which calls nothing
 * but ecrecover, so a step's gas is bounded and no other code runs in between.
 */
contract PaymentManager is AccessControlDefaultAdminRules, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    bytes32 public constant OPERATOR_ROLE = keccak256("OPERATOR_ROLE");

    uint8 public constant TRANSFER = 0;
    uint8 public constant MINT = 1;
    uint8 public constant BURN = 2;

    /// More gas than the most expensive step uses. An operation starts only with this much for each
    /// step and once more, so it never fails for lack of gas.
    uint256 public constant GAS_PER_STEP = 150_000;

    /// A selector and four words: more than the longest error of the token.
    uint256 private constant MAX_REASON_BYTES = 132;

    WonToken public immutable token;

    /// A bit per operation id (word = id >> 8). Consecutive ids share words; any other id works
    /// too.
    mapping(uint256 word => uint256 bits) private _executed;

    event OperationExecuted(bytes32 indexed id);
    event OperationRepeated(bytes32 indexed id);
    event OperationFailed(bytes32 indexed id, bytes reason);

    error CallerNotSelf();
    error GasTooLow(uint256 operation);
    error OperationEmpty();
    error StepExpired(uint256 validBefore);
    error StepKindUnknown(uint8 kind);
    error StepsLeftOver(uint256 steps);

    constructor(WonToken token_, address admin, uint48 adminDelaySeconds, address operator)
        AccessControlDefaultAdminRules(adminDelaySeconds, admin)
    {
        token = token_;
        _grantRole(OPERATOR_ROLE, operator);
    }

    function execute(Operation[] calldata operations, Step[] calldata steps)
        external
        onlyRole(OPERATOR_ROLE)
        nonReentrant
    {
        uint256 next;
        for (uint256 i; i < operations.length; ++i) {
            uint256 first = next;
            next += operations[i].stepCount;
            require(gasleft() > GAS_PER_STEP * (next - first + 1), GasTooLow(i));
            _settle(operations[i].id, steps[first:next]);
        }
        require(next == steps.length, StepsLeftOver(steps.length - next));
    }

    function isExecuted(bytes32 id) external view returns (bool) {
        (uint256 word, uint256 bit) = _locate(id);
        return _executed[word] & bit != 0;
    }

    /// Called by this contract only: a call can be undone, so its steps happen completely or not at
    /// all.
    function takeAll(Step[] calldata steps) external {
        require(msg.sender == address(this), CallerNotSelf());
        require(steps.length > 0, OperationEmpty());
        for (uint256 i; i < steps.length; ++i) {
            (bool done, bytes memory reason) = _take(steps[i]);
            if (!done) LowLevelCall.bubbleRevert(reason);
        }
    }

    /// Forwards tokens that were sent here by mistake: this contract holds none of its own.
    function sweep(IERC20 stray, address to) external onlyRole(DEFAULT_ADMIN_ROLE) {
        stray.safeTransfer(to, stray.balanceOf(address(this)));
    }

    function _settle(bytes32 id, Step[] calldata steps) private {
        (uint256 word, uint256 bit) = _locate(id);
        uint256 executed = _executed[word];
        if (executed & bit != 0) {
            emit OperationRepeated(id);
            return;
        }
        (bool done, bytes memory reason) =
            steps.length == 1 ? _take(steps[0]) : _call(address(this), abi.encodeCall(this.takeAll, (steps)));
        if (done) {
            _executed[word] = executed | bit;
            emit OperationExecuted(id);
        } else {
            emit OperationFailed(id, reason);
        }
    }

    function _take(Step calldata step) private returns (bool done, bytes memory reason) {
        if (step.kind == TRANSFER) {
            (uint8 v, bytes32 s) = _split(step.vs);
            bytes memory transfer = abi.encodeCall(
                IERC3009.transferWithAuthorization,
                (step.from, step.to, step.value, 0, step.validBefore, step.nonce, v, step.r, s)
            );
            return _call(address(token), transfer);
        }
        if (step.kind == MINT) {
            if (block.timestamp >= step.validBefore) {
                return (false, abi.encodeWithSelector(StepExpired.selector, step.validBefore));
            }
            return _call(address(token), abi.encodeCall(WonToken.mint, (step.to, step.value)));
        }
        if (step.kind == BURN) {
            (uint8 v, bytes32 s) = _split(step.vs);
            bytes memory burn = abi.encodeCall(
                WonToken.burnWithAuthorization, (step.from, step.value, 0, step.validBefore, step.nonce, v, step.r, s)
            );
            return _call(address(token), burn);
        }
        return (false, abi.encodeWithSelector(StepKindUnknown.selector, step.kind));
    }

    function _call(address target, bytes memory data) private returns (bool done, bytes memory reason) {
        done = LowLevelCall.callNoReturn(target, data);
        if (!done) reason = _reason();
    }

    /// The call's return data, cut to a limit, so that no callee decides the batch's cost of memory
    /// and logs.
    function _reason() private pure returns (bytes memory reason) {
        uint256 size = Math.min(LowLevelCall.returnDataSize(), MAX_REASON_BYTES);
        reason = new bytes(size);
        assembly ("memory-safe") {
            returndatacopy(add(reason, 0x20), 0, size)
        }
    }

    function _split(bytes32 vs) private pure returns (uint8 v, bytes32 s) {
        return (uint8((uint256(vs) >> 255) + 27), (vs << 1) >> 1);
    }

    function _locate(bytes32 id) private pure returns (uint256 word, uint256 bit) {
        return (uint256(id) >> 8, 1 << (uint256(id) & 0xff));
    }
}
