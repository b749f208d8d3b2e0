/** Values of settings: numbers with suffixes, sweeps, and the axes that hold them. */
@NullMarked
package dev.doorbell.experiments.config.value;

import org.jspecify.annotations.NullMarked;
