/** The imports and exports of a source, as the compiler reads them. */
import ts from 'typescript'

export interface Import {
  specifier: string
  /** A type import, which is erased. */
  is_type: boolean
  /** A dynamic import. */
  is_dynamic: boolean
  /** The imported names; `all` if they are unknown. */
  names: readonly string[] | 'all'
}

/** Static and dynamic imports, and exports from other files. */
export function importsIn(source: ts.SourceFile): Import[] {
  const found: Import[] = []
  const add = (specifier: ts.Node | undefined, rest: Omit<Import, 'specifier'>) => {
    if (specifier && ts.isStringLiteral(specifier)) {
      found.push({ specifier: specifier.text, ...rest })
    }
  }
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      const { importClause: clause, moduleSpecifier } = node
      const is_type = clause?.phaseModifier === ts.SyntaxKind.TypeKeyword
      const names = namesOf(clause?.namedBindings)
      add(moduleSpecifier, { is_type, is_dynamic: false, names })
    } else if (ts.isExportDeclaration(node)) {
      const names = namesOf(node.exportClause)
      add(node.moduleSpecifier, { is_type: node.isTypeOnly, is_dynamic: false, names })
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node.arguments[0], { is_type: false, is_dynamic: true, names: 'all' })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

function namesOf(bindings: ts.NamedImportBindings | ts.NamedExportBindings | undefined) {
  if (!bindings || !(ts.isNamedImports(bindings) || ts.isNamedExports(bindings))) return 'all'
  return bindings.elements.map(({ name, propertyName }) => (propertyName ?? name).text)
}

/** The names that a source exports, without the default one. */
export function exportsIn(source: ts.SourceFile): string[] {
  return source.statements.flatMap((statement) => {
    const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : []
    const has = (kind: ts.SyntaxKind) => modifiers.some((modifier) => modifier.kind === kind)
    if (!has(ts.SyntaxKind.ExportKeyword) || has(ts.SyntaxKind.DefaultKeyword)) return []
    if (ts.isVariableStatement(statement)) {
      return statement.declarationList.declarations.flatMap(({ name }) => boundNames(name))
    }
    const { name } = statement as { name?: ts.Identifier }
    return name ? [name.text] : []
  })
}

const boundNames = (name: ts.BindingName): string[] =>
  ts.isIdentifier(name)
    ? [name.text]
    : name.elements.flatMap((element) =>
        ts.isBindingElement(element) ? boundNames(element.name) : [],
      )

export function parseSource(path: string, text: string): ts.SourceFile {
  const languageVersion = ts.ScriptTarget.ESNext
  // Reading comments as JSDoc takes a quarter of the time.
  const jsDocParsingMode = ts.JSDocParsingMode.ParseNone
  return ts.createSourceFile(path, text, { languageVersion, jsDocParsingMode }, true)
}
