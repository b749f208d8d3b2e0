/** {@code doorbell exec} and {@code doorbell exec --gpus 0}: programs on emulated GPUs and HCAs. */
@NullMarked
package dev.doorbell.experiments.cli.hca;

import org.jspecify.annotations.NullMarked;
