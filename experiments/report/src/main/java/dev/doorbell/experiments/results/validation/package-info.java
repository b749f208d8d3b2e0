/** Published rows beside the model, as text, tables, a page and a figure. */
@NullMarked
package dev.doorbell.experiments.results.validation;

import org.jspecify.annotations.NullMarked;
