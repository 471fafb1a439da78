/** The package's binding, whose own wrapper leaves the level out (1.2.2). */
declare module '@mongodb-js/zstd/bindings.js' {
  const bindings: typeof import('@mongodb-js/zstd');
  export default bindings;
}
