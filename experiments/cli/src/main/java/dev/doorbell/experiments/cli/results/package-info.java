/** After a run: its table and figures again, and what differs from another run. */
@NullMarked
package dev.doorbell.experiments.cli.results;

import org.jspecify.annotations.NullMarked;
