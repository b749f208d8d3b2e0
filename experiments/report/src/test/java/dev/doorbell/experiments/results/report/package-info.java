/** Pages as people and browsers see them. */
@NullMarked
package dev.doorbell.experiments.results.report;

import org.jspecify.annotations.NullMarked;
