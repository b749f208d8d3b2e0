/** Exchanges of tokens between ranks and experts outside of experiments: request and report. */
@NullMarked
package dev.doorbell.experiments.workbench.experts;

import org.jspecify.annotations.NullMarked;
