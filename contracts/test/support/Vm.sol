// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// The cheatcodes of forge that the tests use. forge-std is not in the npm registry.
interface Vm {
    struct Log {
        bytes32[] topics;
        bytes data;
        address emitter;
    }

    function addr(uint256 key) external pure returns (address);
    function sign(uint256 key, bytes32 digest) external pure returns (uint8 v, bytes32 r, bytes32 s);
    function chainId(uint256 id) external;
    function warp(uint256 timestamp) external;
    function cool(address target) external;
    function etch(address target, bytes calldata code) external;
    function load(address target, bytes32 slot) external view returns (bytes32);
    function store(address target, bytes32 slot, bytes32 value) external;
    function getNonce(address account) external view returns (uint64);
    function envOr(string calldata name, bool otherwise) external view returns (bool);
    function getCode(string calldata artifact) external view returns (bytes memory);
    function computeCreateAddress(address deployer, uint256 nonce) external pure returns (address);

    function prank(address sender) external;
    function startPrank(address sender) external;
    function stopPrank() external;
    function assume(bool condition) external pure;
    function expectRevert() external;
    function expectRevert(bytes4 selector) external;
    function expectRevert(bytes calldata reason) external;
    function expectPartialRevert(bytes4 selector) external;
    function expectEmit(address emitter) external;
    function recordLogs() external;
    function getRecordedLogs() external returns (Log[] memory);

    function assertEq(uint256 left, uint256 right, string calldata message) external pure;
    function assertEq(uint256 left, uint256 right) external pure;
    function assertEq(address left, address right) external pure;
    function assertEq(bytes32 left, bytes32 right) external pure;
    function assertEq(bytes calldata left, bytes calldata right) external pure;
    function assertEq(string calldata left, string calldata right) external pure;
    function assertTrue(bool condition) external pure;
    function assertTrue(bool condition, string calldata message) external pure;
    function assertFalse(bool condition) external pure;
    function assertFalse(bool condition, string calldata message) external pure;
    function assertLt(uint256 left, uint256 right, string calldata message) external pure;
}
