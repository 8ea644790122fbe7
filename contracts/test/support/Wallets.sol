// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {WonToken} from "../../src/WonToken.sol";

/// A contract wallet that accepts its owner's signature.
contract ContractWallet {
    address private immutable _owner;

    constructor(address owner) {
        _owner = owner;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view virtual returns (bytes4) {
        return ECDSA.recover(hash, signature) == _owner ? this.isValidSignature.selector : bytes4(0xffffffff);
    }
}

/// A contract wallet that agrees to everything.
contract WillingWallet {
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        return this.isValidSignature.selector;
    }
}

/// A wallet that accepts every signature and spends the same authorization again during the check.
contract ReentrantWallet {
    WonToken private immutable _token;
    bytes private _again;

    constructor(WonToken token) {
        _token = token;
    }

    function spendAgain(bytes calldata call) external {
        _again = call;
    }

    function isValidSignature(bytes32, bytes calldata) external returns (bytes4) {
        bytes memory again = _again;
        delete _again;
        (bool done,) = address(_token).call(again);
        require(done, "re-entry refused");
        return this.isValidSignature.selector;
    }
}

/// The same, but it hides that its re-entry was refused.
contract QuietReentrantWallet {
    WonToken private immutable _token;
    bytes private _again;

    constructor(WonToken token) {
        _token = token;
    }

    function spendAgain(bytes calldata call) external {
        _again = call;
    }

    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        (bool done,) = address(_token).staticcall(_again);
        require(!done, "a static call moved tokens");
        return this.isValidSignature.selector;
    }
}
