/** Colours by meaning. Without a terminal, or with NO_COLOR, every function gives its text back unchanged. */

export type Paint = (text: string) => string;

export interface Theme {
  readonly colored: boolean;
  readonly heading: Paint;
  readonly label: Paint;
  readonly key: Paint;
  readonly number: Paint;
  readonly dim: Paint;
  readonly ok: Paint;
  readonly warning: Paint;
  readonly damage: Paint;
}

const same: Paint = (text) => text;

export const PLAIN_THEME: Theme = {
  colored: false,
  heading: same,
  label: same,
  key: same,
  number: same,
  dim: same,
  ok: same,
  warning: same,
  damage: same,
};

/**
 * Whether to use colour: NO_COLOR (any text but the empty one) forbids it, FORCE_COLOR (but `0` and `false`)
 * demands it, else a terminal decides.
 */
export function wantsColor(isTerminal: boolean, env: Readonly<Record<string, string | undefined>>): boolean {
  if ((env.NO_COLOR ?? '') !== '') return false;
  const force = env.FORCE_COLOR;
  if (force !== undefined) return force !== '0' && force !== 'false';
  return isTerminal && env.TERM !== 'dumb';
}

/** The theme for a stream. chalk costs 14 ms to load: only a coloured output pays it. */
export async function openTheme(
  isTerminal: boolean,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Theme> {
  if (!wantsColor(isTerminal, env)) return PLAIN_THEME;
  const { Chalk } = await import('chalk');
  const chalk = new Chalk({ level: 1 });
  return {
    colored: true,
    heading: chalk.bold,
    label: chalk.cyan,
    key: chalk.yellow,
    number: same,
    dim: chalk.dim,
    ok: chalk.green,
    warning: chalk.yellow,
    damage: chalk.red,
  };
}
