module.exports = async function stopStack() {
  await globalThis.stopSharedStack?.();
};
