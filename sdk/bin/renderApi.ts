import { join } from "node:path";
import ts from "typescript";

const PACKAGE = join(__dirname, "..");

/**
 * Renders sdk/api.md: every exported name with its declaration. A change of the page is a change
 * for partners' compilers.
 */
export function renderApi(): string {
  const config = ts.readConfigFile(join(PACKAGE, "tsconfig.esm.json"), (path) => ts.sys.readFile(path));
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, PACKAGE);
  const entry = join(PACKAGE, "src/index.ts");
  const program = ts.createProgram([entry], {
    ...options,
    composite: false,
    incremental: false,
    removeComments: true,
  });
  const declarations = emittedDeclarations(program);
  const checker = program.getTypeChecker();
  const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(entry)!)!);
  const names = exported.map(({ name }) => name).sort((a, b) => (a < b ? -1 : 1));
  const sections = names.map((name) =>
    (declarations.get(name) ?? [`// ${name} has no declaration`]).join("\n"),
  );
  return `# Exports of @wonrail/sdk

Written by \`npm run generate -w @wonrail/sdk\` and held to the sources by a test: review its changes as changes of the public API.

\`\`\`ts
${sections.join("\n\n")}
\`\`\`
`;
}

function emittedDeclarations(program: ts.Program): Map<string, string[]> {
  const byName = new Map<string, string[]>();
  program.emit(
    undefined,
    (path, text) => {
      if (!path.endsWith(".d.ts")) return;
      const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
      for (const statement of file.statements)
        for (const name of namesOf(statement)) {
          const declaration = statement.getText(file).replace(/^export (declare )?/, "");
          byName.set(name, [...(byName.get(name) ?? []), declaration]);
        }
    },
    undefined,
    true,
  );
  return byName;
}

function namesOf(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => (ts.isIdentifier(name) ? name.text : ""));
  const isNamed =
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) ||
    ts.isFunctionDeclaration(statement);
  return isNamed && statement.name ? [statement.name.text] : [];
}
