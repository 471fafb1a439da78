export { compareBytes as compareIndexedDbKeys } from '../bytes/compare.ts';
