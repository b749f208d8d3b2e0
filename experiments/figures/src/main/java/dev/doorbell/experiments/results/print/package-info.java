/** Numbers, names and tables as readers see them: text, Markdown, LaTeX, CSV and JSON. */
@NullMarked
package dev.doorbell.experiments.results.print;

import org.jspecify.annotations.NullMarked;
