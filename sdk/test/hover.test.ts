// Editors show the comment of a name on hover.
import { join } from "node:path";
import ts from "typescript";

const PACKAGE = join(__dirname, "..");

interface Member {
  name: string;
  comment: string;
}

function publicMembers(): Member[] {
  const entry = join(PACKAGE, "src/index.ts");
  const program = ts.createProgram([entry], { allowImportingTsExtensions: true, noEmit: true, strict: true });
  const checker = program.getTypeChecker();
  const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(entry)!)!);
  const members: Member[] = [];
  for (const alias of exported) {
    const symbol = alias.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(alias) : alias;
    members.push({ name: symbol.name, comment: commentOf(symbol) });
    for (const node of symbol.declarations ?? []) visit(node, symbol.name);
  }
  return members;

  function commentOf(symbol: ts.Symbol): string {
    return ts.displayPartsToString(symbol.getDocumentationComment(checker));
  }

  function visit(node: ts.Node, path: string): void {
    node.forEachChild((child) => {
      if (ts.isConstructorDeclaration(child)) return;
      if (!isPublicMember(child)) return visit(child, path);
      const name = `${path}.${child.name.getText()}`;
      const symbol = checker.getSymbolAtLocation(child.name);
      members.push({ name, comment: symbol ? commentOf(symbol) : "" });
      visit(child, name);
    });
  }
}

type Named = ts.PropertySignature | ts.PropertyDeclaration | ts.MethodDeclaration | ts.MethodSignature;

/** A named field or method that a caller can see. Computed names belong to the runtime. */
function isPublicMember(node: ts.Node): node is Named & { name: ts.Identifier } {
  const isMember =
    ts.isPropertySignature(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isMethodSignature(node);
  if (!isMember || !ts.isIdentifier(node.name)) return false;
  return !ts.canHaveModifiers(node) || !ts.getModifiers(node)?.some(isHidden);
}

function isHidden({ kind }: ts.Modifier): boolean {
  return kind === ts.SyntaxKind.PrivateKeyword || kind === ts.SyntaxKind.ProtectedKeyword;
}

test("every exported name, method and field has hover documentation", () => {
  const members = publicMembers();
  expect(members.length).toBeGreaterThan(250);
  expect(members.filter(({ comment }) => comment === "").map(({ name }) => name)).toEqual([]);
});
