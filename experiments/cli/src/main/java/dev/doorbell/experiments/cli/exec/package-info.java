/** {@code doorbell exec} and {@code doorbell exec --gpus 0}: programs on emulated GPUs and HCAs. */
@NullMarked
package dev.doorbell.experiments.cli.exec;

import org.jspecify.annotations.NullMarked;
