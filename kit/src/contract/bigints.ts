export function smallest<T extends bigint>(first: T, ...others: T[]): T {
  return others.reduce((least, value) => (value < least ? value : least), first);
}

export function largest<T extends bigint>(first: T, ...others: T[]): T {
  return others.reduce((most, value) => (value > most ? value : most), first);
}
