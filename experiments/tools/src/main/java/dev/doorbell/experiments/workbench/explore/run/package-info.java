/** Builds the world of one explored run on the exploring fabric, and runs it by a schedule. */
@NullMarked
package dev.doorbell.experiments.workbench.explore.run;

import org.jspecify.annotations.NullMarked;
