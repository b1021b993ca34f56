export { default } from '../../../ormconfig';
