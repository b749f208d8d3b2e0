/** What goes into papers, as LaTeX sees it. */
@NullMarked
package dev.doorbell.experiments.latex;

import org.jspecify.annotations.NullMarked;
