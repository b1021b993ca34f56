// The program that runs each night. It needs no library: it reads its business date from the environment.
console.log(`exporting the figures of ${process.env['CRONLATCH_BUSINESS_DATE']}`);
