// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Step} from "../../src/PaymentManager.sol";
import {Batches} from "./Batches.sol";
import {WillingWallet} from "./Wallets.sol";

/// Random actions of accounts and operator, beside a model that predicts each result. The handler never reverts: an
/// action must succeed exactly when the model says so.
contract Handler is Batches {
    /// Two wallets with keys, which the manager can settle for, and two contracts, whose signatures cost no time.
    uint256[2] private keys = [ALICE_KEY, BOB_KEY];
    address[4] private holders;

    uint256 public minted;
    uint256 public burned;
    bool private paused;

    mapping(address account => uint256 value) public balances;
    mapping(address account => bool) public blocked;
    mapping(address account => mapping(uint256 nonce => bool)) public used;
    mapping(address account => uint256[] nonces) private touched;
    mapping(uint256 id => bool) public executed;
    uint256[] private triedIds;

    constructor() {
        setUp();
        holders = [alice, bob, address(new WillingWallet()), address(new WillingWallet())];
        for (uint256 i; i < holders.length; ++i) {
            give(holders[i], 1_000);
            minted += 1_000;
            balances[holders[i]] = 1_000;
            // Near the end of the first window, so that runs cross into the next.
            for (uint256 nonce; nonce < 40 * i + 30; ++nonce) {
                cancelOne(i, nonce);
            }
        }
    }

    function transferByAuthorization(uint256 who, uint256 to, uint256 value, uint256 nonce) external {
        (address from, address receiver) = (holderOf(who), holderOf(to));
        (value, nonce) = (value % 1_200, pickNonce(from, nonce));
        bool expected = !used[from][nonce] && movable(from, receiver, value);
        Authorization memory a = authorization(from, receiver, value, nonce);
        bytes memory signature = signatureOf(who, structHashOf(TRANSFER_TYPEHASH, a));
        must(
            expected,
            abi.encodeWithSignature(
                "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)",
                from,
                receiver,
                value,
                0,
                SOON,
                a.nonce,
                signature
            )
        );
        if (expected) {
            use(from, nonce);
            move(from, receiver, value);
        }
    }

    function transferByHolder(uint256 who, uint256 to, uint256 value) external {
        (address from, address receiver) = (holderOf(who), holderOf(to));
        value %= 1_200;
        bool expected = movable(from, receiver, value);
        vm.prank(from);
        must(expected, abi.encodeWithSignature("transfer(address,uint256)", receiver, value));
        if (expected) move(from, receiver, value);
    }

    function cancelSome(uint256 who, uint256 count) external {
        who = 2 + who % 2;
        for (uint256 i; i < count % 10; ++i) {
            cancelOne(who, touched[holders[who]].length);
        }
    }

    function cancelAny(uint256 who, uint256 nonce) external {
        cancelOne(who, pickNonce(holderOf(who), nonce));
    }

    function executeBatch(uint256 seed) external {
        uint256 count = 1 + seed % 3;
        for (uint256 i; i < count; ++i) {
            begin(uint256(keccak256(abi.encode(seed, i))) % 400);
            uint256 stepCount = 1 + (seed >> (8 * i + 8)) % 2;
            for (uint256 k; k < stepCount; ++k) {
                add(randomStep(uint256(keccak256(abi.encode(seed, i, k)))));
            }
        }
        Outcome[] memory expected = new Outcome[](count);
        uint256 next;
        for (uint256 i; i < count; ++i) {
            uint256 first = next;
            next += operations[i].stepCount;
            expected[i] = predict(uint256(operations[i].id), first, next);
        }
        (Outcome[] memory outcomes,) = execute();
        for (uint256 i; i < count; ++i) {
            isOutcome(outcomes[i], expected[i]);
        }
    }

    function setPaused(uint256 dice) external {
        bool wanted = dice % 4 == 0;
        if (wanted == paused) return;
        paused = wanted;
        vm.prank(PAUSER);
        wanted ? token.pause() : token.unpause();
    }

    function setBlocked(uint256 who, bool wanted) external {
        address holder = holderOf(who);
        blocked[holder] = wanted;
        vm.prank(BLOCKLISTER);
        token.setBlocked(holder, wanted);
    }

    /// After every call.
    function checkBalances() external view {
        uint256 sum;
        for (uint256 i; i < holders.length; ++i) {
            address holder = holders[i];
            uint256 balance = token.balanceOf(holder);
            require(balance == balances[holder], "balance differs from the model");
            require(token.isBlocked(holder) == blocked[holder], "block flag");
            sum += balance;
        }
        require(token.totalSupply() == sum, "supply is not the sum of balances");
        require(sum == minted - burned, "supply is not what was minted less burned");
        require(token.mintAllowance(address(manager)) == MINT_ALLOWANCE - minted, "allowance left");
        require(token.balanceOf(address(manager)) == 0, "tokens stuck in the manager");
    }

    /// Checks after every run that exactly the used nonces and the executed operations are marked.
    function checkSets() external view {
        for (uint256 i; i < holders.length; ++i) {
            address holder = holders[i];
            for (uint256 nonce; nonce < 170; nonce += 3) {
                bool state = token.authorizationState(holder, bytes32(nonce));
                require(state == used[holder][nonce], "nonce state differs from the model");
            }
            for (uint256 k; k < touched[holder].length; ++k) {
                require(token.authorizationState(holder, bytes32(touched[holder][k])), "a used nonce is free");
            }
        }
        for (uint256 i; i < triedIds.length; ++i) {
            require(manager.isExecuted(bytes32(triedIds[i])) == executed[triedIds[i]], "operation id");
        }
    }

    function predict(uint256 id, uint256 first, uint256 end) private returns (Outcome) {
        triedIds.push(id);
        if (executed[id]) return Outcome.REPEATED;
        for (uint256 i = first; i < end; ++i) {
            if (happens(steps[i])) continue;
            for (uint256 k = i; k > first; --k) {
                undo(steps[k - 1]);
            }
            return Outcome.FAILED;
        }
        executed[id] = true;
        return Outcome.EXECUTED;
    }

    function happens(Step memory step) private returns (bool) {
        if (step.kind == 1) {
            if (paused || blocked[step.to]) return false;
            minted += step.value;
            balances[step.to] += step.value;
            return true;
        }
        uint256 nonce = uint256(step.nonce);
        if (used[step.from][nonce]) return false;
        if (step.kind == 0) {
            if (!movable(step.from, step.to, step.value)) return false;
            move(step.from, step.to, step.value);
        } else {
            if (!movable(step.from, step.from, step.value)) return false;
            burned += step.value;
            balances[step.from] -= step.value;
        }
        use(step.from, nonce);
        return true;
    }

    function undo(Step memory step) private {
        if (step.kind == 1) {
            minted -= step.value;
            balances[step.to] -= step.value;
            return;
        }
        if (step.kind == 0) {
            move(step.to, step.from, step.value);
        } else {
            burned -= step.value;
            balances[step.from] += step.value;
        }
        used[step.from][uint256(step.nonce)] = false;
        touched[step.from].pop();
    }

    function randomStep(uint256 seed) private view returns (Step memory) {
        (uint256 key, address from, address to) = (keys[seed % 2], holders[seed % 2], holderOf(seed >> 8));
        uint256 value = (seed >> 16) % 300;
        uint256 nonce = pickNonce(from, seed >> 32);
        uint256 dice = (seed >> 24) % 8;
        if (dice < 5) return pay(key, to, value, nonce);
        return dice < 7 ? mintTo(to, value) : burnOf(key, value, nonce);
    }

    function cancelOne(uint256 who, uint256 nonce) private {
        address from = holderOf(who);
        bytes memory signature = signatureOf(who, keccak256(abi.encode(CANCEL_TYPEHASH, from, nonce)));
        bytes memory call =
            abi.encodeWithSignature("cancelAuthorization(address,bytes32,bytes)", from, nonce, signature);
        must(!used[from][nonce], call);
        if (!used[from][nonce]) use(from, nonce);
    }

    function must(bool expected, bytes memory call) private {
        (bool done,) = address(token).call(call);
        require(done == expected, expected ? "refused what it must do" : "did what it must refuse");
    }

    function use(address from, uint256 nonce) private {
        used[from][nonce] = true;
        touched[from].push(nonce);
    }

    function move(address from, address to, uint256 value) private {
        balances[from] -= value;
        balances[to] += value;
    }

    function movable(address from, address to, uint256 value) private view returns (bool) {
        return !paused && !blocked[from] && !blocked[to] && value <= balances[from];
    }

    /// The next nonce in order, a recent one, one in the next windows, or a random one.
    function pickNonce(address from, uint256 seed) private view returns (uint256) {
        uint256 count = touched[from].length;
        uint256 dice = seed % 8;
        if (dice < 4) return count + (seed >> 8) % 3;
        if (dice < 6 && count > 0) return touched[from][(seed >> 8) % count];
        return dice == 6 ? (seed >> 8) % 300 : seed;
    }

    function holderOf(uint256 who) private view returns (address) {
        return holders[who % holders.length];
    }

    function signatureOf(uint256 who, bytes32 structHash) private view returns (bytes memory) {
        if (who % holders.length >= keys.length) return "";
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(keys[who % holders.length], digest(ourDomain(), structHash));
        return abi.encodePacked(r, s, v);
    }
}
