import ts from "typescript";

export interface Member {
  name: string;
  comment: string;
}

/** Every exported name, method and field that the entry file exports, with its comment. */
export function publicMembers(entry: string): Member[] {
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
function isPublicMember(node: ts.Node): node is Named & { name: ts.Identifier | ts.StringLiteral } {
  const isMember =
    ts.isPropertySignature(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isMethodSignature(node);
  if (!isMember || !(ts.isIdentifier(node.name) || ts.isStringLiteral(node.name))) return false;
  return !ts.canHaveModifiers(node) || !ts.getModifiers(node)?.some(isHidden);
}

function isHidden({ kind }: ts.Modifier): boolean {
  return kind === ts.SyntaxKind.PrivateKeyword || kind === ts.SyntaxKind.ProtectedKeyword;
}
