/** The part of the environment that programs of tests inherit: none of its settings. */
export const program_environment = {
  PATH: process.env['PATH'],
  // A server that compiles its sources takes twice as long to start.
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
}
