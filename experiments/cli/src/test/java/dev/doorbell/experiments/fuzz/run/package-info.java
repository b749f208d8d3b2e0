/** The targets of the fuzz: one for each format that Doorbell reads. */
@NullMarked
package dev.doorbell.experiments.fuzz.run;

import org.jspecify.annotations.NullMarked;
