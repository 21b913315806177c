/** The same program by a name that needs its types taken out first, which is slower. */

import './start.js'
