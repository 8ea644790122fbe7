module.exports = async function stopParts() {
  await globalThis.stopTestParts?.();
};
