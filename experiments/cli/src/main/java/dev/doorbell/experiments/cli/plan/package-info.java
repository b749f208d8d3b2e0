/** Before a run: what there is to run, what a file says, which points it has, what is expected. */
@NullMarked
package dev.doorbell.experiments.cli.plan;

import org.jspecify.annotations.NullMarked;
