/**
 * One drawing, three writers: a figure's look is decided once, as paths and text on a page, and
 * then written as SVG, PDF or PNG.
 *
 * <p>Writers are pure functions to bytes: no dates, no random identifiers, no fonts of the machine.
 * Text is set in Liberation Sans, which comes with PDFBox and has the widths of Arial and
 * Helvetica, so that a viewer of the SVG without that typeface has the same layout.
 */
@NullMarked
package dev.doorbell.experiments.results.figures.drawing;

import org.jspecify.annotations.NullMarked;
