// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/**
 * Caps what all minters together mint in any 24 hours.
 *
 * Amounts are summed in periods of four hours. A mint counts until its whole period is older than a day, so it counts
 * for 24 to 28 hours. A minter who lost its key therefore mints at most one cap in any 24 hours.
 */
abstract contract MintCap {
    uint256 private constant PERIOD = 4 hours;
    uint256 private constant PERIODS_PER_DAY = 6;

    /// Fits a storage word. `minted` is the sum of `period` and of the six periods before it.
    struct Window {
        uint96 cap;
        uint96 minted;
        uint64 period;
    }

    Window private _window;
    mapping(uint256 period => uint256 value) private _mintedIn;

    event MintCapPerDaySet(uint256 value);

    error MintCapExceeded(uint256 mintable, uint256 value);

    function mintCapPerDay() public view returns (uint256) {
        return _window.cap;
    }

    /// The cap less the mints of the last 24 to 28 hours, and never below 0.
    function mintableToday() public view returns (uint256) {
        return _subtractDownToZero(_window.cap, _mintedUntil(_currentPeriod()));
    }

    function _setMintCapPerDay(uint96 value) internal {
        _window.cap = value;
        emit MintCapPerDaySet(value);
    }

    function _useMintCap(uint256 value) internal {
        uint256 period = _currentPeriod();
        uint256 minted = _mintedUntil(period);
        uint256 mintable = _subtractDownToZero(_window.cap, minted);
        require(value <= mintable, MintCapExceeded(mintable, value));
        _window.minted = uint96(minted + value);
        _window.period = uint64(period);
        _mintedIn[period] += value;
    }

    /// The sum of `period` and of the six before it.
    function _mintedUntil(uint256 period) private view returns (uint256 minted) {
        uint256 last = _window.period;
        if (period - last > PERIODS_PER_DAY) return 0;
        minted = _window.minted;
        for (uint256 i = last; i < period; ++i) {
            minted -= _mintedIn[i - PERIODS_PER_DAY];
        }
    }

    function _currentPeriod() private view returns (uint256) {
        return block.timestamp / PERIOD;
    }

    function _subtractDownToZero(uint256 from, uint256 value) private pure returns (uint256) {
        return from > value ? from - value : 0;
    }
}
