/** Pages as people and browsers see them. */
@NullMarked
package dev.doorbell.experiments.report;

import org.jspecify.annotations.NullMarked;
