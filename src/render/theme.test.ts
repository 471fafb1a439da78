import { expect, it } from 'vitest';
import { openTheme, PLAIN_THEME, wantsColor } from './theme.ts';

it('colours a terminal only, and heeds NO_COLOR', async () => {
  expect(wantsColor(true, {})).toBe(true);
  expect(wantsColor(false, {})).toBe(false);
  expect(wantsColor(true, { NO_COLOR: '1' })).toBe(false);
  expect(wantsColor(true, { NO_COLOR: '' })).toBe(true);
  expect(wantsColor(true, { TERM: 'dumb' })).toBe(false);
  expect(wantsColor(false, { FORCE_COLOR: '1' })).toBe(true);
  expect(wantsColor(true, { FORCE_COLOR: '0' })).toBe(false);
  expect(await openTheme(false, {})).toBe(PLAIN_THEME);
  expect((await openTheme(true, {})).damage('x')).toBe('\u001b[31mx\u001b[39m');
});
