import { TABLES } from '../generated/tables.ts'
import { type Catalogue, createCatalogue } from './catalogue.ts'

export const catalogue: Catalogue = createCatalogue(TABLES)
