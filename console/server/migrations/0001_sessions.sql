-- Operators who are signed in. The browser has the token in a cookie; only its hash is stored.
create table sessions (
  token_hash bytea primary key check (length(token_hash) = 32),
  operator text not null check (operator <> ''),
  roles text[] not null
    check (cardinality(roles) > 0 and roles <@ '{viewer,support,treasury,compliance,admin}'),
  created_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now()
);

-- Sign-ins that wait for the identity provider. The hash is that of a cookie, so another browser
-- cannot finish the sign-in. A finished sign-in has no row.
create table sign_ins (
  token_hash bytea primary key check (length(token_hash) = 32),
  state text not null,
  nonce text not null,
  code_verifier text not null,
  -- The path of the console that the operator wanted.
  return_to text not null,
  expires_at timestamptz not null
);

-- One-time links, for consoles without an identity provider. A used link has no row.
create table sign_in_links (
  token_hash bytea primary key check (length(token_hash) = 32),
  operator text not null check (operator <> ''),
  roles text[] not null
    check (cardinality(roles) > 0 and roles <@ '{viewer,support,treasury,compliance,admin}'),
  expires_at timestamptz not null
);
