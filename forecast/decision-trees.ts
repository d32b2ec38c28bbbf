import type { BinnedTable } from './histogram-bins.ts'

/**
 * Trees over binned features, with the nodes of all trees in one list. Typed arrays only, so that a
 * model can be sent to a thread and stored.
 */
export interface DecisionTrees {
  roots: Uint32Array
  /** Column that a node tests; -1 for a leaf. */
  columns: Int16Array
  /** Rows whose bin is at most this go to the first child, others to the second. */
  splits: Uint8Array
  /** First child of a node, which the second follows; for a leaf, its number among all leaves. */
  children: Uint32Array
}

export interface TreeBuilder {
  /** Starts another tree and returns its root, an unnumbered leaf. */
  root(): number
  /** Splits a node and returns the first of its two children. */
  split(node: number, column: number, split: number): number
  /** Numbers a leaf and returns the number. */
  leaf(node: number): number
  /** The present trees, valid until another node is added. */
  view(): DecisionTrees
  trees(): DecisionTrees
}

export function createTreeBuilder(): TreeBuilder {
  const roots: number[] = []
  let columns = new Int16Array(1024)
  let splits = new Uint8Array(1024)
  let children = new Uint32Array(1024)
  let nodes = 0
  let leaves = 0
  const add = () => {
    if (nodes === columns.length) {
      columns = grown(columns, new Int16Array(2 * nodes))
      splits = grown(splits, new Uint8Array(2 * nodes))
      children = grown(children, new Uint32Array(2 * nodes))
    }
    columns[nodes] = -1
    nodes += 1
    return nodes - 1
  }
  return {
    root() {
      const node = add()
      roots.push(node)
      return node
    },
    split(node, column, split) {
      const first = add()
      add()
      columns[node] = column
      splits[node] = split
      children[node] = first
      return first
    },
    leaf(node) {
      children[node] = leaves
      leaves += 1
      return leaves - 1
    },
    view: () => ({ roots: Uint32Array.from(roots), columns, splits, children }),
    trees: () => ({
      roots: Uint32Array.from(roots),
      columns: columns.slice(0, nodes),
      splits: splits.slice(0, nodes),
      children: children.slice(0, nodes),
    }),
  }
}

function grown<T extends Int16Array | Uint8Array | Uint32Array>(from: T, to: T): T {
  to.set(from)
  return to
}

/** The leaf of a row of a binned table, in the tree with this root. */
export function leafOf(
  { columns, splits, children }: DecisionTrees,
  root: number,
  table: BinnedTable,
  row: number,
): number {
  let node = root
  for (let column = columns[node]!; column >= 0; column = columns[node]!) {
    const goes_first = table.columns[column]![row]! <= splits[node]!
    node = children[node]! + (goes_first ? 0 : 1)
  }
  return children[node]!
}
