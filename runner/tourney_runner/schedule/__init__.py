"""Who meets whom, when and in which seat: formats that plan rounds of tables."""
