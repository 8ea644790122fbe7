/** Replaces what a page has between a line with the mark and the next `<!-- end -->`. */
export function replaceBetween(page: string, mark: string, text: string): string {
  const begin = `<!-- ${mark} -->`;
  const end = "<!-- end -->";
  const [before, rest] = page.split(begin);
  const place = rest?.indexOf(end) ?? -1;
  if (place < 0) throw new Error(`the page lacks ${begin} or a following ${end}`);
  return `${before}${begin}\n\n${text}\n\n${rest!.slice(place)}`;
}
