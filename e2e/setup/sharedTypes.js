const { types } = require("node:util");
const { TestEnvironment } = require("jest-environment-node");

const CHECKS = {
  Array: Array.isArray,
  Error: types.isNativeError,
  Function: (one) => typeof one === "function",
  Map: types.isMap,
  Object: (one) => Object(one) === one && Object.getPrototypeOf(one) !== null,
  Promise: types.isPromise,
  RegExp: types.isRegExp,
  Set: types.isSet,
};

const { now } = Date;

/**
 * A test file has its own global objects, and the shared packages have those of the worker. Here
 * `instanceof` accepts the values of both. Date is one for both, so that a test that sets the clock
 * sets it for the packages, too.
 */
module.exports = class SharedTypes extends TestEnvironment {
  constructor(...args) {
    super(...args);
    acceptBoth(this.global);
    this.global.Date = Date;
  }

  async teardown() {
    Date.now = now;
    await super.teardown();
  }
};

acceptBoth(globalThis);

function acceptBoth(global) {
  const isInstance = Function.prototype[Symbol.hasInstance];
  for (const [name, check] of Object.entries(CHECKS)) {
    const type = global[name];
    Object.defineProperty(type, Symbol.hasInstance, {
      configurable: true,
      // A subclass inherits this function, and has its own instances only.
      value(one) {
        return isInstance.call(this, one) || (this === type && check(one));
      },
    });
  }
}
