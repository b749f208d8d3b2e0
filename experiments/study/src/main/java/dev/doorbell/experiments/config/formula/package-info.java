/** Formulas of kernel descriptors: sizes, initial contents and expected contents of buffers. */
@NullMarked
package dev.doorbell.experiments.config.formula;

import org.jspecify.annotations.NullMarked;
