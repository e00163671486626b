use super::generate;
