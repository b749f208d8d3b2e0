/** {@code doorbell run}: a plan becomes a run directory, with what is seen on the way. */
@NullMarked
package dev.doorbell.experiments.cli.run;

import org.jspecify.annotations.NullMarked;
